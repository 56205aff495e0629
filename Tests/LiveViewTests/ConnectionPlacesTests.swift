import Testing

@testable import LiveView

/// The places of a relay's connections.
@Suite struct ConnectionPlacesTests {
    /// Adds a connection, and expects that it replaces another one.
    private func add(_ places: inout ConnectionPlaces, replacing replaced: ConnectionPlaces.ID?) throws {
        let added = places.add()
        #expect(try #require(added).replaced == replaced)
    }

    @Test func theOldestIdleConnectionGoesFirstAndOneThatIsAnsweredAfterAllIdleOnes() throws {
        var places = ConnectionPlaces(limit: 3)
        for _ in 1...3 { try add(&places, replacing: nil) }
        places.asks(1, isAuthorized: false)
        try add(&places, replacing: 2)
        try add(&places, replacing: 3)
        places.asks(4, isAuthorized: false)
        places.asks(5, isAuthorized: false)
        try add(&places, replacing: 1)
        places.isAnswered(5)
        places.asks(6, isAuthorized: false)
        try add(&places, replacing: 5)
    }

    @Test func aConnectionThatHasShownTheTokenStaysAlsoWhileItIsIdle() throws {
        var places = ConnectionPlaces(limit: 2)
        for _ in 1...2 { try add(&places, replacing: nil) }
        places.asks(1, isAuthorized: true)
        places.isAnswered(1)
        // A later request for the page on the same connection has no token.
        places.asks(1, isAuthorized: false)
        places.isAnswered(1)
        try add(&places, replacing: 2)
        places.asks(3, isAuthorized: true)
        let refused = places.add()
        #expect(refused?.new == nil)
        #expect(places.isAuthorized(1) && places.isAuthorized(3) && !places.isAuthorized(2))
        places.remove(1)
        try add(&places, replacing: nil)
    }
}
