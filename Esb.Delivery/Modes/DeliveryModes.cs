using Esb.Core.Endpoints;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Failures;
using Esb.Delivery.Lanes;
using Esb.Delivery.Outages;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Modes;

/// <summary>Creates the delivery mode that an endpoint's <c>delivery</c> names.</summary>
internal static class DeliveryModes
{
    public static IDeliveryMode Create(
        OutboundEndpointConfig config,
        EndpointSender sender,
        OutageGate gate,
        DeliveryState state,
        DeliveryJournal journal,
        Patience patience,
        FreezeWatch freezes,
        SendPace pace,
        DeliveryServices services
    )
    {
        var (time, loggers) = (services.Time, services.Loggers);
        var ladder = new RetryLadder(config.Retry);
        var attempter = new Attempter(
            config.Name,
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
        var lastResort = new LastResort(config.Name, config.OnFailure ?? FailureAction.DeadLetter, journal);
        var book = new AttemptBook(config, services.Attempts, time, loggers.CreateLogger<AttemptBook>());
        return config.Delivery switch
        {
            DeliveryMode.Ordered => new OrderedDelivery(
                config,
                book,
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
            var lanes = new LaneBook(config.Name, services.Parking, patience, freezes, time, loggers.CreateLogger<LaneBook>());
            var parking = new ParkingLot(config, services.Parking, patience, journal, time, loggers.CreateLogger<ParkingLot>());
            var releases = new LineRelease(
                config,
                lanes,
                parking,
                attempter,
                lastResort,
                services.DeadLetters,
                patience,
                services.Queues,
                journal,
                time
            );
            return new KeyedDelivery(config, lanes, parking, releases, book, attempter, requests, lastResort, journal, time);
        }
    }
}
