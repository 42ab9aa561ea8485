import Bluetooth
import Fuzzing

/// Procedures of all kinds against a server that answers rightly, wrongly, or with anything.
@main
enum ATTClient {
  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      var run = ClientRun(maximumMTU: 23 + Int(input.octet()) * 2)
      while !input.isEmpty { run.step(&input) }
      run.endLink()
    }
  }
}
