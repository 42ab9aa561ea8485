import Fuzzing

/// Data of links between a controller and the own host: the controller's octets to frames, and frames to packets.
@main
enum ACLTarget {
  static func main() {
    fuzz { octets in
      var run = ACLRun(FuzzInput(octets))
      run.run()
    }
  }
}
