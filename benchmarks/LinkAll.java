import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.zip.ZipFile;

/**
 * Loads, verifies and links every class of the jars named, without initialising it, and prints each with its outcome.
 * The jars must be on the class path too; what they need from elsewhere may be missing, and is an outcome.
 */
public final class LinkAll {
  private LinkAll() {}

  public static void main(String[] jars) throws IOException {
    StringBuilder told = new StringBuilder();
    for (String jar : jars) {
      for (String name : classes(jar)) {
        told.append(name).append(": ").append(outcome(name)).append('\n');
      }
    }
    System.out.print(told);
  }

  private static List<String> classes(String jar) throws IOException {
    try (JarFile file = new JarFile(new File(jar), false, ZipFile.OPEN_READ, Runtime.version())) {
      return file.versionedStream()
          .map(entry -> entry.getName())
          .filter(name -> name.endsWith(".class") && !name.endsWith("module-info.class"))
          .map(name -> name.substring(0, name.length() - ".class".length()).replace('/', '.'))
          .distinct()
          .sorted()
          .collect(Collectors.toList());
    }
  }

  /** Asking for the constructors links the class, and then looks up only their parameters. */
  private static String outcome(String name) {
    try {
      Class.forName(name, false, LinkAll.class.getClassLoader()).getDeclaredConstructors();
      return "linked";
    } catch (ClassNotFoundException | LinkageError | SecurityException | IllegalArgumentException failed) {
      String words = String.valueOf(failed).lines().findFirst().orElse("?");
      return words.replaceAll("@(0x)?[0-9a-f]+", "@"); // which object it is differs from run to run
    }
  }
}
