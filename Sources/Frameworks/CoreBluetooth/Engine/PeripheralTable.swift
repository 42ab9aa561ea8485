import FrameworkSupport

/// The device objects held by the program. Any thread.
final class PeripheralTable: Sendable {
  private struct Reference {
    weak var peripheral: CBPeripheral?
  }

  private let objects = Guarded<(last: Int, references: [UUID: Reference])>((0, [:]))

  /// The existing or a new object for a device.
  /// - Parameter make: Makes one with this number, which no other has.
  func find(_ identifier: UUID, make: (Int) -> CBPeripheral) -> CBPeripheral {
    objects.with {
      if let known = $0.references[identifier]?.peripheral { return known }
      $0.last += 1
      let new = make($0.last)
      $0.references[identifier] = Reference(peripheral: new)
      return new
    }
  }

  /// Takes an object of another manager in, unless there is one for the device.
  /// - Returns: Its number here; nil if there is another object.
  func adopt(_ peripheral: CBPeripheral) -> Int? {
    // An object must not be released inside the lock: its end would come here again.
    let (number, other) = objects.with { objects -> (Int?, CBPeripheral?) in
      if let other = objects.references[peripheral.identifier]?.peripheral { return (nil, other) }
      objects.last += 1
      objects.references[peripheral.identifier] = Reference(peripheral: peripheral)
      return (objects.last, nil)
    }
    return withExtendedLifetime(other) { number }
  }

  /// An object is another manager's from now on.
  func remove(_ peripheral: CBPeripheral) {
    let present = objects.with { objects in
      let present = objects.references[peripheral.identifier]?.peripheral
      if present === peripheral { objects.references[peripheral.identifier] = nil }
      return present
    }
    withExtendedLifetime(present) {}
  }

  /// The object for a device, if the program holds one.
  func held(_ identifier: UUID) -> CBPeripheral? { objects.with { $0.references[identifier]?.peripheral } }

  /// All objects held by the program.
  var held: [CBPeripheral] { objects.with { $0.references.values.compactMap(\.peripheral) } }

  /// The program has released the object for a device.
  func forget(_ identifier: UUID) {
    // A newer object for the device must not be released inside the lock: that would lead back here.
    let newer = objects.with { objects in
      let newer = objects.references[identifier]?.peripheral
      if newer == nil { objects.references[identifier] = nil }
      return newer
    }
    withExtendedLifetime(newer) {}
  }
}
