import ArgumentParser

/// The options of every command.
struct GlobalOptions: ParsableArguments {
  @Option(
    help: "The daemon's socket (default: $BLED_SOCKET, /run/bled/bled.sock, or $XDG_RUNTIME_DIR/bled/bled.sock).")
  var socket: String?

  @Flag(help: "Print one JSON object per line, for other programs.")
  var json = false
}
