/// The delegate of a peripheral manager. Only `peripheralManagerDidUpdateState` is required; all calls come on the
/// manager's queue, one after the other.
public protocol CBPeripheralManagerDelegate: NSObjectProtocol {
  /// The state is known, or changed.
  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager)

  /// The daemon preserved state under the manager's restore identifier; called before the first state update.
  func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any])

  /// The answer to `startAdvertising`.
  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)

  /// The answer to `add`.
  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?)

  /// A central subscribed.
  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic)

  /// A central ended its subscription, or went away.
  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic)

  /// A central reads a characteristic without a fixed value; answer with `respond`.
  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest)

  /// A central wrote, perhaps several at once; answer once, with the first, for all.
  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest])

  /// There is room again after `updateValue` gave false.
  func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager)

  /// The answer to `publishL2CAPChannel`.
  func peripheralManager(_ peripheral: CBPeripheralManager, didPublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?)

  /// The answer to `unpublishL2CAPChannel`.
  func peripheralManager(
    _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?)

  /// A central opened a channel.
  func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}

extension CBPeripheralManagerDelegate {
  /// Does nothing.
  public func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {}

  /// Does nothing.
  public func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {}

  /// Does nothing.
  public func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {}

  /// Does nothing.
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {}

  /// Does nothing.
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {}

  /// Does nothing.
  public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {}

  /// Does nothing.
  public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {}

  /// Does nothing.
  public func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {}

  /// Does nothing.
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didPublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?
  ) {}

  /// Does nothing.
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?
  ) {}

  /// Does nothing.
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?
  ) {}
}
