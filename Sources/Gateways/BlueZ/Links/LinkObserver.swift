/// A part of the facade that follows the links to devices.
protocol LinkObserver: AnyObject {
  /// A program has connected to a device.
  func connected(_ path: String)
  /// The services of a device are known in this connection, to one more user of it.
  func resolved(_ path: String, by user: any SessionHolder)
  /// A program requests to disconnect a device.
  func disconnecting(_ path: String, by client: BusClient)
  /// A program requests to disconnect and remove a device.
  func removing(_ path: String, by client: BusClient)
  /// The removal that a program requested has failed.
  func isNotRemoved(_ path: String, by client: BusClient)
  /// A device is disconnected; reported before its properties change.
  func disconnected(_ path: String)
  /// A link has ended, and programs were notified; not reported for a device with a removed object.
  func ended(_ path: String)
}

extension LinkObserver {
  func connected(_ path: String) {}
  func resolved(_ path: String, by user: any SessionHolder) {}
  func disconnecting(_ path: String, by client: BusClient) {}
  func removing(_ path: String, by client: BusClient) {}
  func isNotRemoved(_ path: String, by client: BusClient) {}
  func disconnected(_ path: String) {}
  func ended(_ path: String) {}
}

/// The parts of the facade that follow the links, in the order of notification. The facade holds them.
struct LinkObservers {
  private struct Observer {
    unowned let part: any LinkObserver
  }

  private let observers: [Observer]

  init(_ parts: [any LinkObserver]) { observers = parts.map { Observer(part: $0) } }

  func notify(_ event: (any LinkObserver) -> Void) {
    for observer in observers { event(observer.part) }
  }
}
