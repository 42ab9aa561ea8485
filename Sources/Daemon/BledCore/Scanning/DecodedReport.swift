import Beacons
import BledRPC
import Bluetooth
import FoundationEssentials

/// A device's decoded data, as far as it needs no key: shared by all scans.
struct DecodedReport {
  /// The part for a session.
  enum Part {
    /// No data.
    case nothing
    /// The data for all sessions, as JSON.
    case shared(Data)
    /// The data decrypted with the session's own keys, as JSON.
    case own(Data)

    /// Makes the part decoded without a key.
    init(_ decoded: [DecodedData]) {
      self = decoded.isEmpty ? .nothing : (try? ScanReport.encoded(decoded)).map(Part.shared) ?? .nothing
    }
  }

  let shared: Part
  /// The addresses whose keys would reveal more.
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
  /// Decodes its data. Decryption uses the address on the air.
  func decode(open: (SealedData) -> SealedData.Opened) -> [DecodedData] {
    advertised.decoded(address: advertisement?.address ?? address, open: open)
  }
}
