import Bluetooth
import Fuzzing

/// A client that sends anything, an owner that answers late, twice or not at all, and a database that changes.
@main
enum ATTServer {
  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      var run = ServerRun(maximumMTU: 23 + Int(input.octet()) * 2)
      while !input.isEmpty { run.step(&input) }
      run.endLink()
    }
  }
}
