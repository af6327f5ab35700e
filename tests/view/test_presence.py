"""Who knows whether a tab is open."""

from threading import Event, Thread

from unjank.view._presence import Presence

PATIENCE_SECONDS = 60


def waiting(presence: Presence) -> Event:
    """Waits in another thread; the event says when that is over."""
    left = Event()

    def wait() -> None:
        presence.wait_until_left()
        left.set()

    Thread(target=wait, daemon=True).start()
    return left


def test_waits_for_the_first_tab_and_for_the_last_to_go() -> None:
    """Nobody has left before somebody came; then the last of two tabs ends the wait."""
    presence = Presence(grace_seconds=0)
    left = waiting(presence)
    assert not left.wait(0.1)
    with presence.tab():
        pass
    assert left.wait(PATIENCE_SECONDS)


def test_tab_that_stays_keeps_it_waiting() -> None:
    """While one of two tabs is open the wait goes on."""
    presence = Presence(grace_seconds=0)
    with presence.tab():
        left = waiting(presence)
        with presence.tab():
            pass
        assert not left.wait(0.1)
    assert left.wait(PATIENCE_SECONDS)


def test_tab_that_was_there_before_the_wait_counts() -> None:
    """A tab that came and went before anyone waited was there all the same."""
    presence = Presence(grace_seconds=0)
    with presence.tab():
        pass
    assert waiting(presence).wait(PATIENCE_SECONDS)


def test_reload_is_not_a_farewell() -> None:
    """Within the grace time a tab may come back, and then is waited for as before."""
    presence = Presence(grace_seconds=3600)
    left = waiting(presence)
    with presence.tab():
        pass
    assert not left.wait(0.1)
    presence._grace_seconds = 0
    with presence.tab():
        pass
    assert left.wait(PATIENCE_SECONDS)
