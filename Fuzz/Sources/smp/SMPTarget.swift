import Bluetooth
import Fuzzing

/// Security Managers: packets that are written as they were read, and two managers at the ends of a link on which
/// packets are altered, dropped and made up.
@main
enum SMPTarget {
  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      guard input.octet() & 3 != 0 else { return parse(input.remainder()) }
      var run = SMPRun(&input)
      while !input.isEmpty { run.step(&input) }
      run.end()
    }
  }

  private static func parse(_ octets: [UInt8]) {
    do throws(SMPCodingError) {
      let pdu = try SMPPDU(parsing: octets)
      invariant(pdu.encoded == octets, "another packet is written than was read")
    } catch {
      invariant(error != .empty || octets.isEmpty, "\(octets.count) octets are called none")
    }
  }
}
