package android.util;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Stands in for Qualcomm's class of this name: checks what it receives as the device would, and prints it. */
public class BoostFramework {
  private static final List<Integer> KEYS = Arrays.asList(
      0x40400000, 0x40800000, 0x40800100, 0x40800200, 0x40804000, 0x40804100, 0x40804200, 0x40C00000);
  private final List<Integer> held = new ArrayList<>();

  public int perfLockAcquire(int milliseconds, int... pairs) {
    if (milliseconds < 0 || pairs.length == 0 || pairs.length % 2 != 0) return -1;
    for (int i = 0; i < pairs.length; i += 2) {
      boolean isSwitch = pairs[i] == 0x40400000 || pairs[i] == 0x40C00000;
      if (!KEYS.contains(pairs[i]) || pairs[i + 1] < 0 || pairs[i + 1] > (isSwitch ? 1 : 0xFFF)) return -2;
    }
    int handle = 100 + held.size();
    held.add(handle);
    System.out.println("acquire " + milliseconds + " " + Arrays.toString(pairs));
    return handle;
  }

  public int perfLockReleaseHandler(int handle) {
    System.out.println("release " + handle + " " + (held.remove((Integer) handle) ? "held" : "not held"));
    return 0;
  }

  public int perfHint(int hint, String packageName, int milliseconds, int type) {
    System.out.println("hint " + hint + " '" + packageName + "' " + milliseconds + " " + type);
    return 7;
  }
}
