import BledRPC

extension Router {
  func serveGATT(_ broker: CentralBroker) {
    serve(GATTDiscover.self, waitsForLink: true) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).requests.discoverEverything(params, for: session, reply)
    }
    serve(GATTDiscoverServices.self, waitsForLink: true) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session)
        .requests.discover(.services(params.services ?? [], reply), for: session)
    }
    serve(GATTDiscoverIncludedServices.self, waitsForLink: true) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session)
        .requests.discover(in: params, .service, for: session, reply) { .includedServices($0, reply) }
    }
    serve(GATTDiscoverCharacteristics.self, waitsForLink: true) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session)
        .requests.discover(in: params, .service, for: session, reply) { .characteristics($0, reply) }
    }
    serve(GATTDiscoverDescriptors.self, waitsForLink: true) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session)
        .requests.discover(in: params, .characteristic, for: session, reply) { .descriptors($0, reply) }
    }
    serve(GATTRead.self, waitsForLink: true) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).requests.read(params, for: session, reply)
    }
    serve(GATTWrite.self, waitsForLink: true) { [unowned broker] params, session, reply in
      do {
        try broker.link(to: params.peripheral, for: session).requests.write(params, for: session, reply)
      } catch {
        if params.response == false { broker.commandRefused(of: session, params, error) }
        throw error
      }
    }
    serve(GATTSubscribe.self, waitsForLink: true) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).requests.subscribe(params, for: session, reply)
    }
    serve(GATTUnsubscribe.self, waitsForLink: true) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).requests.unsubscribe(params, for: session, reply)
    }
    serve(GATTAcquire.self, waitsForLink: true) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).requests.acquire(params, for: session, reply)
    }
    serve(GATTReadUsingUUID.self, waitsForLink: true) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).requests.read(params, for: session, reply)
    }
    serve(GATTReadMultiple.self, waitsForLink: true) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).requests.read(params, for: session, reply)
    }
    serve(GATTWriteReliably.self, waitsForLink: true) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).requests.write(params, for: session, reply)
    }
    serve(GATTServerFeatures.self, waitsForLink: true) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).requests.readServerFeatures(for: session, reply)
    }
  }
}
