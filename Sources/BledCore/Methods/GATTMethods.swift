import BledRPC

extension Router {
  func serveGATT(_ broker: CentralBroker) {
    serve(GATTDiscover.self) { [unowned broker] params, session, reply in
      let device = try broker.link(to: params.peripheral, for: session)
      device.remember(reply, of: session) { $0.add($1.services) }
      device.discover(session, reply)
    }
    serve(GATTDiscoverServices.self) { [unowned broker] params, session, reply in
      let device = try broker.link(to: params.peripheral, for: session)
      device.remember(reply, of: session) { $0.add($1.services) }
      device.discoverServices(params.services ?? [], session, reply)
    }
    serve(GATTDiscoverIncludedServices.self) { [unowned broker] params, session, reply in
      let device = try broker.link(to: params.peripheral, for: session)
      device.remember(reply, of: session) { $0.add(includes: $1.services, of: params.handle) }
      device.discoverIncludedServices(params, session, reply)
    }
    serve(GATTDiscoverCharacteristics.self) { [unowned broker] params, session, reply in
      let device = try broker.link(to: params.peripheral, for: session)
      device.remember(reply, of: session) { $0.add($1.characteristics, of: params.handle) }
      device.discoverCharacteristics(params, session, reply)
    }
    serve(GATTDiscoverDescriptors.self) { [unowned broker] params, session, reply in
      let device = try broker.link(to: params.peripheral, for: session)
      device.remember(reply, of: session) { $0.add($1.descriptors, of: params.handle) }
      device.discoverDescriptors(params, session, reply)
    }
    serve(GATTRead.self) { [unowned broker] params, session, reply in
      let device = try broker.link(to: params.peripheral, for: session)
      try device.read(params.handle, session, reply)
      broker.noticeRead(params.handle, of: device, by: session)
    }
    serve(GATTWrite.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).write(params, session, reply)
    }
    serve(GATTSubscribe.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).subscribe(to: params.handle, session, reply)
    }
    serve(GATTUnsubscribe.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).unsubscribe(from: params.handle, session, reply)
    }
  }
}
