import BledRPC
import Bluetooth
import GATT

/// Discovers everything on a device, one procedure after the other.
///
/// | State           | Input            | Next procedure, next state                                     |
/// |-----------------|------------------|----------------------------------------------------------------|
/// | services        | the services     | included services of the first → includes                      |
/// | includes        | its includes     | (new ones join the list as secondary) characteristics → characteristics |
/// | characteristics | its characteristics | descriptors of the first that has room for some → descriptors |
/// | descriptors     | its descriptors  | those of the next one, or the includes of the next service     |
/// | any             | nothing is left  | done                                                           |
struct DiscoveryMachine {
  private enum State {
    case services
    case includes
    case characteristics
    case descriptors(Int)
  }

  private struct Found {
    let range: ClosedRange<UInt16>
    let uuid: BluetoothUUID
    let isPrimary: Bool
    var includes: [DiscoveredInclude] = []
    var characteristics: [DiscoveredCharacteristic] = []
    var descriptors: [UInt16: [DiscoveredDescriptor]] = [:]
  }

  private var state = State.services
  private var found: [Found] = []
  private var index = 0

  /// The procedure to begin with.
  static var first: GATTProcedure { .discoverServices(.primary) }

  /// Takes over the result of a procedure.
  /// - Returns: the next one; nil when all is discovered.
  mutating func next(_ result: GATTResult) -> GATTProcedure? {
    switch (state, result) {
    case (.services, .services(let services)):
      found = services.map { Found(range: $0.range, uuid: $0.uuid, isPrimary: true) }
      return discoverIncludes()
    case (.includes, .includedServices(let includes)):
      found[index].includes = includes
      for include in includes where !found.contains(where: { $0.range.lowerBound == include.range.lowerBound }) {
        found.append(Found(range: include.range, uuid: include.uuid, isPrimary: false))
      }
      state = .characteristics
      return .discoverCharacteristics(in: found[index].range)
    case (.characteristics, .characteristics(let characteristics)):
      found[index].characteristics = characteristics
      return discoverDescriptors(from: 0)
    case (.descriptors(let position), .descriptors(let descriptors)):
      found[index].descriptors[found[index].characteristics[position].valueHandle] = descriptors
      return discoverDescriptors(from: position + 1)
    default:
      return nil
    }
  }

  private mutating func discoverIncludes() -> GATTProcedure? {
    // A declaration alone has nothing in it.
    while index < found.count, found[index].range.count == 1 { index += 1 }
    guard index < found.count else { return nil }
    state = .includes
    return .findIncludedServices(in: found[index].range)
  }

  private mutating func discoverDescriptors(from start: Int) -> GATTProcedure? {
    let characteristics = found[index].characteristics
    if let position = characteristics.indices.dropFirst(start).first(where: { characteristics[$0].hasDescriptors }) {
      state = .descriptors(position)
      return .discoverDescriptors(in: (characteristics[position].valueHandle + 1)...characteristics[position].endHandle)
    }
    index += 1
    return discoverIncludes()
  }

  /// What was discovered, for the table of the link.
  func teach(_ known: inout KnownAttributes) {
    for service in found {
      known.add(service.range)
      for characteristic in service.characteristics {
        known.add(characteristic)
        known.add(service.descriptors[characteristic.valueHandle] ?? [], of: characteristic.valueHandle)
      }
    }
  }

  /// What was discovered, as clients get it.
  var services: [ServiceDescription] {
    found.map { service in
      ServiceDescription(
        handle: service.range.lowerBound, end: service.range.upperBound, uuid: service.uuid, primary: service.isPrimary,
        includes: service.includes.map { ServiceDescription($0, isPrimary: isPrimary($0)) },
        characteristics: service.characteristics.map {
          CharacteristicDescription($0, descriptors: service.descriptors[$0.valueHandle] ?? [])
        })
    }
  }

  private func isPrimary(_ include: DiscoveredInclude) -> Bool {
    found.contains { $0.isPrimary && $0.range.lowerBound == include.range.lowerBound }
  }
}

extension DiscoveredCharacteristic {
  fileprivate var hasDescriptors: Bool { endHandle > valueHandle }
}
