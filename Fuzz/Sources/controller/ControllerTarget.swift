import Fuzzing

/// A controller that sends any octets to the own host: its framing, its set-up, and the machines of its radio.
@main
enum ControllerTarget {
  static func main() {
    fuzz { octets in
      var run = ControllerRun(FuzzInput(octets))
      run.run()
    }
  }
}
