"""Why a call is made direct or left, and why an updater is followed or not: codes, and what they mean."""

from enum import StrEnum


class Reason(StrEnum):
    """Code of a reason; `explanation` says it in words."""

    PROVEN = "proven"
    CHECKED_VALUE = "checked-value"

    RECEIVER_UNKNOWN = "receiver-unknown"
    RECEIVER_MIXED = "receiver-mixed"
    RECEIVER_NOT_STATIC = "receiver-not-static"
    RECEIVER_ELSEWHERE = "receiver-elsewhere"
    RECEIVER_AMBIGUOUS = "receiver-ambiguous"
    HOLDER_NOT_PROVEN = "holder-not-proven"
    VALUE_NOT_PROVEN = "value-not-proven"
    NEVER_REACHED = "never-reached"
    NOT_FOLLOWED = "code-not-followed"
    POOL_FULL = "constant-pool-full"

    DEX_REFLECTIVE = "dex-reflective"

    NOT_STATIC_FINAL = "updater-not-static-final"
    ASSIGNED_ELSEWHERE = "updater-assigned-more-than-once"
    NOT_CONSTANT = "updater-not-from-constants"
    OTHER_HOLDER = "updater-of-other-class"
    FIELD_MISSING = "updater-field-missing"
    FIELD_TYPE = "updater-field-type"
    FIELD_STATIC = "updater-field-static"
    FIELD_NOT_VOLATILE = "updater-field-not-volatile"

    @property
    def explanation(self) -> str:
        """One sentence for people."""
        return _EXPLANATIONS[self]


_EXPLANATIONS = {
    Reason.PROVEN: "Updater, holder and value are proven.",
    Reason.CHECKED_VALUE: "The field's type is an interface or array, not verified by the JVM: checked.",
    Reason.RECEIVER_UNKNOWN: "The updater comes from a parameter, an array or no plain accessor.",
    Reason.RECEIVER_MIXED: "It may be one of several updaters.",
    Reason.RECEIVER_NOT_STATIC: "The updater comes from a field of an object.",
    Reason.RECEIVER_ELSEWHERE: "The updater's class is not in this archive.",
    Reason.RECEIVER_AMBIGUOUS: "The updater's class is there more than once, as entry or as layer.",
    Reason.HOLDER_NOT_PROVEN: "The object is not proven to be of the updater's class.",
    Reason.VALUE_NOT_PROVEN: "The value is not proven to be of the field's type.",
    Reason.NEVER_REACHED: "No path leads to the call.",
    Reason.NOT_FOLLOWED: "The method's code could not be followed.",
    Reason.POOL_FULL: "The class's constant pool has no room left.",
    Reason.DEX_REFLECTIVE: "Dex code that still goes through the updater.",
    Reason.NOT_STATIC_FINAL: "The updater is not a static final field.",
    Reason.ASSIGNED_ELSEWHERE: "The updater is not assigned exactly once, in the static initialiser.",
    Reason.NOT_CONSTANT: "The updater is not built from constants.",
    Reason.OTHER_HOLDER: "The updater is of another class than the one that has it.",
    Reason.FIELD_MISSING: "The class has no field of that name.",
    Reason.FIELD_TYPE: "The field has another type than the updater was built for.",
    Reason.FIELD_STATIC: "The field is static.",
    Reason.FIELD_NOT_VOLATILE: "The field is not volatile.",
}
