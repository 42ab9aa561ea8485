import HCI

/// The host's requests for rates and trains of a link.
extension LinkEnd {
  /// LE Subrate Request (Core 5.4, Vol 4, Part E, 7.8.124).
  func request(_ wanted: LESubrateRequest) throws(Refusal) {
    let rate = try ConnectionRate(
      wanted.subrateMin, wanted.subrateMax, latency: wanted.maximumLatency, continuation: wanted.continuationNumber,
      timeout: wanted.supervisionTimeout
    ).validated()
    guard rate.allows(layer.times.interval) else { throw Refusal(.invalidHCICommandParameters) }
    // A request may follow that for the features at once.
    guard layer.canSubrate || !layer.knowsFeatures else { throw Refusal(.unsupportedRemoteFeature) }
    begin(.subrate(rate))
  }

  /// LE Connection Rate Request (Core 6.2, Vol 4, Part E, 7.8.154).
  func request(_ wanted: LEConnectionRateRequest) throws(Refusal) {
    let rate = try wanted.rate.validated()
    guard rate.allows(rate.intervalMax) else { throw Refusal(.invalidHCICommandParameters) }
    guard layer.canShorten else { throw Refusal(.unsupportedRemoteFeature) }
    guard rate.intervalMax >= controller.model.shortestInterval else {
      throw Refusal(.unsupportedFeatureOrParameterValue)
    }
    begin(.rate(rate))
  }

  // MARK: - Trains

  /// LE Periodic Advertising Sync Transfer (Core 5.4, Vol 4, Part E, 7.8.89).
  func transfer(_ wanted: LEPeriodicAdvertisingSyncTransfer) throws(Refusal) {
    try transfer(
      controller.activities.syncs.established(wanted.syncHandle).information, serviceData: wanted.serviceData)
  }

  /// LE Periodic Advertising Set Info Transfer (7.8.90).
  func transfer(_ wanted: LEPeriodicAdvertisingSetInfoTransfer) throws(Refusal) {
    guard let train = try controller.activities.advertising.existing(wanted.advertisingHandle).train else {
      throw Refusal(.commandDisallowed)
    }
    try transfer(train.information, serviceData: wanted.serviceData)
  }

  private func transfer(_ train: TrainInformation, serviceData: UInt16) throws(Refusal) {
    guard layer.theirs.first.contains(.periodicTransferRecipient) || !layer.knowsFeatures else {
      throw Refusal(.unsupportedRemoteFeature)
    }
    send(.periodicSync(train, serviceData: serviceData))
  }

  /// LE Set Periodic Advertising Sync Transfer Parameters (7.8.91).
  func follow(_ wanted: LESetPeriodicAdvertisingSyncTransferParameters) throws(Refusal) {
    guard wanted.mode <= 3, wanted.skip <= 499, (10...0x4000).contains(wanted.timeout) else {
      throw Refusal(.invalidHCICommandParameters)
    }
    followed = wanted.mode == 0 ? nil : wanted
  }
}
