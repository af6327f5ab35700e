"""Every instruction (JVMS chapter 6): name, and what the plain ones do to the operand stack.

An effect such as `II>I` pops two ints, the last one first, and pushes one. `R` is any reference, `N` null,
`T` any value. Instructions without an effect here are those whose effect depends on operands: see effects.py.
"""

_TABLE = """
0 nop >|1 aconst_null >N|2 iconst_m1 >I|3 iconst_0 >I|4 iconst_1 >I|5 iconst_2 >I|6 iconst_3 >I
7 iconst_4 >I|8 iconst_5 >I|9 lconst_0 >J|10 lconst_1 >J|11 fconst_0 >F|12 fconst_1 >F|13 fconst_2 >F
14 dconst_0 >D|15 dconst_1 >D|16 bipush >I|17 sipush >I|18 ldc|19 ldc_w|20 ldc2_w|21 iload|22 lload|23 fload
24 dload|25 aload|26 iload_0|27 iload_1|28 iload_2|29 iload_3|30 lload_0|31 lload_1|32 lload_2|33 lload_3
34 fload_0|35 fload_1|36 fload_2|37 fload_3|38 dload_0|39 dload_1|40 dload_2|41 dload_3|42 aload_0
43 aload_1|44 aload_2|45 aload_3|46 iaload RI>I|47 laload RI>J|48 faload RI>F|49 daload RI>D|50 aaload
51 baload RI>I|52 caload RI>I|53 saload RI>I|54 istore|55 lstore|56 fstore|57 dstore|58 astore|59 istore_0
60 istore_1|61 istore_2|62 istore_3|63 lstore_0|64 lstore_1|65 lstore_2|66 lstore_3|67 fstore_0|68 fstore_1
69 fstore_2|70 fstore_3|71 dstore_0|72 dstore_1|73 dstore_2|74 dstore_3|75 astore_0|76 astore_1|77 astore_2
78 astore_3|79 iastore RII>|80 lastore RIJ>|81 fastore RIF>|82 dastore RID>|83 aastore RIR>|84 bastore RII>
85 castore RII>|86 sastore RII>|87 pop|88 pop2|89 dup|90 dup_x1|91 dup_x2|92 dup2|93 dup2_x1|94 dup2_x2
95 swap|96 iadd II>I|97 ladd JJ>J|98 fadd FF>F|99 dadd DD>D|100 isub II>I|101 lsub JJ>J|102 fsub FF>F
103 dsub DD>D|104 imul II>I|105 lmul JJ>J|106 fmul FF>F|107 dmul DD>D|108 idiv II>I|109 ldiv JJ>J
110 fdiv FF>F|111 ddiv DD>D|112 irem II>I|113 lrem JJ>J|114 frem FF>F|115 drem DD>D|116 ineg I>I
117 lneg J>J|118 fneg F>F|119 dneg D>D|120 ishl II>I|121 lshl JI>J|122 ishr II>I|123 lshr JI>J
124 iushr II>I|125 lushr JI>J|126 iand II>I|127 land JJ>J|128 ior II>I|129 lor JJ>J|130 ixor II>I
131 lxor JJ>J|132 iinc >|133 i2l I>J|134 i2f I>F|135 i2d I>D|136 l2i J>I|137 l2f J>F|138 l2d J>D|139 f2i F>I
140 f2l F>J|141 f2d F>D|142 d2i D>I|143 d2l D>J|144 d2f D>F|145 i2b I>I|146 i2c I>I|147 i2s I>I
148 lcmp JJ>I|149 fcmpl FF>I|150 fcmpg FF>I|151 dcmpl DD>I|152 dcmpg DD>I|153 ifeq I>|154 ifne I>
155 iflt I>|156 ifge I>|157 ifgt I>|158 ifle I>|159 if_icmpeq II>|160 if_icmpne II>|161 if_icmplt II>
162 if_icmpge II>|163 if_icmpgt II>|164 if_icmple II>|165 if_acmpeq RR>|166 if_acmpne RR>|167 goto >|168 jsr
169 ret|170 tableswitch I>|171 lookupswitch I>|172 ireturn I>|173 lreturn J>|174 freturn F>|175 dreturn D>
176 areturn R>|177 return >|178 getstatic|179 putstatic|180 getfield|181 putfield|182 invokevirtual
183 invokespecial|184 invokestatic|185 invokeinterface|186 invokedynamic|187 new|188 newarray|189 anewarray
190 arraylength R>I|191 athrow R>|192 checkcast|193 instanceof R>I|194 monitorenter R>|195 monitorexit R>
196 wide|197 multianewarray|198 ifnull R>|199 ifnonnull R>|200 goto_w >|201 jsr_w
"""

_ROWS = [row.split() for line in _TABLE.strip().splitlines() for row in line.split("|")]

NAMES = tuple(row[1] for row in _ROWS)
"""Instruction names by opcode."""

OPCODES = {name: number for number, name in enumerate(NAMES)}
"""Opcodes by name."""

EFFECTS: tuple[tuple[int, str] | None, ...] = tuple(
    (len(row[2].partition(">")[0]), row[2].partition(">")[2]) if len(row) > 2 else None for row in _ROWS
)
"""By opcode: how many values it pops, and the types that it pushes; None where operands decide."""


def _sizes() -> tuple[int, ...]:
    sizes = [1] * len(NAMES)
    for name in (
        "bipush",
        "ldc",
        "newarray",
        *(f"{t}{way}" for t in "ilfda" for way in ("load", "store")),
        "ret",
    ):
        sizes[OPCODES[name]] = 2
    jumps = range(OPCODES["ifeq"], OPCODES["jsr"] + 1)
    members = range(OPCODES["getstatic"], OPCODES["invokestatic"] + 1)
    others = (
        "sipush",
        "ldc_w",
        "ldc2_w",
        "iinc",
        "new",
        "anewarray",
        "checkcast",
        "instanceof",
        "ifnull",
        "ifnonnull",
    )
    for opcode in (*jumps, *members, *(OPCODES[name] for name in others)):
        sizes[opcode] = 3
    sizes[OPCODES["multianewarray"]] = 4
    for name in ("invokeinterface", "invokedynamic", "goto_w", "jsr_w"):
        sizes[OPCODES[name]] = 5
    for name in ("tableswitch", "lookupswitch", "wide"):
        sizes[OPCODES[name]] = 0
    return tuple(sizes)


SIZES = _sizes()
"""By opcode: length in bytes; 0 where it depends on operands or alignment."""
