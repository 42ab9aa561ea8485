/// A part of the facade that keeps something of devices.
protocol DeviceObserver: AnyObject {
  /// A device's object is about to be removed.
  func leaving(_ device: Device)
}

/// The parts of the facade that keep data of devices, in the order of notification. The facade holds them.
struct DeviceObservers {
  private struct Observer {
    unowned let part: any DeviceObserver
  }

  private let observers: [Observer]

  init(_ parts: [any DeviceObserver]) { observers = parts.map { Observer(part: $0) } }

  func leaving(_ device: Device) {
    for observer in observers { observer.part.leaving(device) }
  }
}
