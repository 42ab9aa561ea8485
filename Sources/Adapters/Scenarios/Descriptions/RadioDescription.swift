import Adapter
import Bluetooth
import JSONFiles

/// The radio of an adapter, a device or a phone on a link.
package struct RadioDescription: ReadableFromFile, Sendable {
  /// Its PHYs.
  package var phys: Set<PHY> = Set(PHY.allCases)
  /// The longest payload of a packet on the air, in octets.
  package var longestPacket = 251
  /// True if it has connection subrating.
  package var subrating = true
  /// True if it has shorter connection intervals.
  package var shortIntervals = true

  private enum Word: String, CaseIterable {
    case le1M = "1M"
    case le2M = "2M"
    case coded

    var phy: PHY {
      switch self {
      case .le1M: .le1M
      case .le2M: .le2M
      case .coded: .leCoded
      }
    }
  }

  private enum Keys: String, CaseIterable { case phys, longestPacket, subrating, shortIntervals }

  package init() {}

  package init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    longestPacket = try members.integer(.longestPacket, in: 27...251, default: longestPacket)
    subrating = try members.value(.subrating, default: subrating)
    shortIntervals = try members.value(.shortIntervals, default: shortIntervals)
    guard let list = members[.phys] else { return }
    phys = []
    for element in try list.elements() { phys.insert(try element.word(Word.self).phy) }
    guard phys.contains(.le1M) else { throw list.failure("every radio has the PHY \"1M\": list it") }
  }
}
