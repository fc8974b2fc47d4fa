using Esb.Core.Endpoints;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Failures;
using Esb.Delivery.Lanes;
using Esb.Delivery.Outages;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Modes;

/// <summary>Creates the delivery mode of an endpoint for each of its revisions. They share lanes and retry progress: a lane that is taken
/// over again would fence off the attempts under way.</summary>
internal sealed class DeliveryModes(
    string endpoint,
    EndpointSender sender,
    DeliveryState state,
    DeliveryJournal journal,
    Patience patience,
    FreezeWatch freezes,
    SendPace pace,
    DeliveryServices services
)
{
    private readonly LaneBook _lanes = new(
        endpoint,
        services.Parking,
        patience,
        freezes,
        services.Time,
        services.Loggers.CreateLogger<LaneBook>()
    );

    private readonly AttemptBook _book = new(endpoint, services.Attempts, services.Time, services.Loggers.CreateLogger<AttemptBook>());

    /// <param name="config">The settings, the tuned ones included; <c>delivery</c> is the same each time.</param>
    /// <param name="gate">Holds deliveries back during an outage.</param>
    public IDeliveryMode Create(OutboundEndpointConfig config, OutageGate gate)
    {
        var (time, loggers) = (services.Time, services.Loggers);
        var ladder = new RetryLadder(config.Retry);
        var attempter = new Attempter(
            endpoint,
            sender,
            gate,
            ladder,
            services.Suspects,
            journal,
            pace,
            time,
            loggers.CreateLogger<Attempter>()
        );
        var requests = new RequestDelivery(config, attempter, gate, ladder, journal, time);
        var lastResort = new LastResort(endpoint, config.OnFailure ?? FailureAction.DeadLetter, journal);
        return config.Delivery switch
        {
            DeliveryMode.Ordered => new OrderedDelivery(
                config,
                ladder,
                _book,
                attempter,
                requests,
                lastResort,
                services.Suspects,
                journal,
                state,
                time,
                loggers.CreateLogger<OrderedDelivery>()
            ),
            DeliveryMode.OrderedByKey => ByKey(),
            _ => new ParallelDelivery(attempter, requests, lastResort, journal),
        };

        KeyedDelivery ByKey()
        {
            var parking = new ParkingLot(config, services.Parking, patience, journal, time, loggers.CreateLogger<ParkingLot>());
            var releases = new LineRelease(
                config,
                _lanes,
                parking,
                attempter,
                lastResort,
                services.DeadLetters,
                patience,
                services.Queues,
                journal,
                time
            );
            return new KeyedDelivery(config, ladder, _lanes, parking, releases, _book, attempter, requests, lastResort, journal, time);
        }
    }
}
