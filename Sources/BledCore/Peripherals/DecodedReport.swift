import BledRPC
import Bluetooth
import FoundationEssentials

/// What the data of a device says without any key: the same for all scans that ask.
struct DecodedReport {
  /// What a session is told of it.
  enum Part {
    /// Nothing.
    case nothing
    /// What everybody who asks is told, as JSON.
    case shared(Data)
    /// What only its own keys tell, as JSON.
    case own(Data)

    /// What was decoded without a key.
    init(_ decoded: [DecodedData]) {
      self = decoded.isEmpty ? .nothing : (try? ScanReport.encoded(decoded)).map(Part.shared) ?? .nothing
    }
  }

  let shared: Part
  /// The addresses whose keys would tell more.
  let sealed: [DeviceAddress]

  init(_ peripheral: Peripheral) {
    var sealed: [DeviceAddress] = []
    shared = Part(
      peripheral.decode { box in
        sealed.append(box.address)
        return .keyIsMissing
      })
    self.sealed = sealed
  }
}

extension Peripheral {
  /// What its data says. Encryption makes use of the address that is on the air.
  func decode(open: (SealedData) -> SealedData.Opened) -> [DecodedData] {
    advertised.decoded(address: advertisement?.address ?? address, open: open)
  }
}
