import ArgumentParser

/// `bleshell help` without a command: the most important commands, on one screen.
struct ShortHelp: ShellCommand {
  static let configuration = CommandConfiguration(commandName: "help", abstract: "Shows the most important commands.")

  @OptionGroup(title: "Common options") var global: GlobalOptions

  private static let text = """
    bleshell, a command-line client for the Bluetooth LE daemon bled

      scan                              devices that advertise, and sensors
      inspect DEVICE                    a device on the whole screen
      services DEVICE                   its services and characteristics
      read DEVICE CHARACTERISTIC        reads a value
      write DEVICE CHARACTERISTIC HEX   writes one; --text for text
      subscribe DEVICE CHARACTERISTIC   prints notified values; --csv, --plot
      connect DEVICE                    in line mode: the others need no DEVICE
      pair DEVICE                       pairs
      serve FILE, advertise             makes this machine a device
      log, sessions                     packets on links; programs that use bled
      web                               all of it in a browser
      doctor, adapters                  looks for problems; the adapters

    "help all" lists all commands, and "help COMMAND" explains one.
    """

  func run(in shell: Shell) async throws { shell.output.line(Self.text) }
}
