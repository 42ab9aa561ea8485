import Beacons
import BledRPC
import Bluetooth
import FoundationEssentials

/// The decoded data of a device, as far as it needs no key: the same for all scans that ask.
struct DecodedReport {
  /// The part that a session is told.
  enum Part {
    /// Nothing.
    case nothing
    /// The data that all sessions are told, as JSON.
    case shared(Data)
    /// The data that only the session's own keys open, as JSON.
    case own(Data)

    /// Makes the part that was decoded without a key.
    init(_ decoded: [DecodedData]) {
      self = decoded.isEmpty ? .nothing : (try? ScanReport.encoded(decoded)).map(Part.shared) ?? .nothing
    }
  }

  let shared: Part
  /// The addresses with keys that would reveal more.
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
  /// Decodes its data. Encryption makes use of the address that is on the air.
  func decode(open: (SealedData) -> SealedData.Opened) -> [DecodedData] {
    advertised.decoded(address: advertisement?.address ?? address, open: open)
  }
}
