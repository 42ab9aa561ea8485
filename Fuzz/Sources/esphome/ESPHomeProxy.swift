import Bluetooth
import Fuzzing

/// Clients of a proxy, which send frames, parts of frames and anything, and bled, which answers or fails.
@main
enum ESPHomeProxy {
  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      let run = ProxyRun(isEncrypted: input.octet() & 1 == 1)
      while !input.isEmpty { run.step(&input) }
      run.end()
    }
  }
}
