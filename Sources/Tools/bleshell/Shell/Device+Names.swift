import BledRPC
import Bluetooth
import ValueFormats

extension Device {
  /// Maximum descriptors read to find a name.
  private static let maximumReads = 64

  /// The attribute that a text denotes, by UUID, handle, or a name: assigned, given by the user, or read from the
  /// device.
  /// - Throws: `Failure` if none matches, or several.
  func attribute(_ text: String) async throws -> Attribute {
    let tree = try await tree()
    do throws(Failure) {
      return await described(try tree.attribute(text, naming))
    } catch {
      // More names do not help with handles and texts that are ambiguous.
      guard error.isUnknownName else { throw error }
      await readUserDescriptions(in: tree)
      return await described(try tree.attribute(text, naming))
    }
  }

  /// An attribute with the name and the format that the user or the device gives it.
  func described(_ attribute: Attribute) async -> Attribute {
    let characteristic = knownTree.lazy.compactMap(\.characteristics).joined().first { $0.handle == attribute.handle }
    return await described(attribute, characteristic)
  }

  /// An attribute with its name and its format.
  /// - Parameter characteristic: Its place in the tree; nil: it is not the attribute of a characteristic.
  func described(_ attribute: Attribute, _ characteristic: CharacteristicDescription?) async -> Attribute {
    var attribute = attribute
    for descriptor in AttributeNaming.descriptors {
      if let characteristic { await read(descriptor, of: characteristic) }
    }
    attribute.name = naming.name(of: attribute.uuid, in: attribute.service, handle: attribute.handle)
    attribute.format = naming.format(of: attribute.uuid, in: attribute.service, handle: attribute.handle)
    return attribute
  }

  private func readUserDescriptions(in tree: [ServiceDescription]) async {
    let characteristics = tree.flatMap { $0.characteristics ?? [] }
    let described = characteristics.filter { $0.descriptors?.contains { $0.uuid == 0x2901 } == true }
    for characteristic in described.prefix(Self.maximumReads) { await read(0x2901, of: characteristic) }
  }

  /// Reads a descriptor once. Of several formats each is for a part of the value: the user has to describe the whole.
  private func read(_ descriptor: BluetoothUUID, of characteristic: CharacteristicDescription) async {
    let descriptors = (characteristic.descriptors ?? []).filter { $0.uuid == descriptor }
    guard descriptors.count == 1, askedDescriptors.insert(descriptors[0].handle).inserted,
      let value = try? await read(descriptors[0].handle)
    else { return }
    naming.received(descriptor, value, of: characteristic.handle)
  }
}
