using Esb.Core.Brokers;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Delivery.Intake.Overload;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Brokers;

/// <summary>Creates inbound endpoints that read a queue of a broker, on the services of a running bus.</summary>
internal sealed class BrokerInbound(InboundEndpointConfig config, IBrokerSettings broker, IServiceProvider services, IMessageIntake intake)
{
    /// <summary>Creates the endpoint.</summary>
    /// <param name="createFormat">Creates what reads its deliveries; gets the sender of answers, null if it gives none.</param>
    /// <param name="prefetch">Messages that may be on their way from the broker.</param>
    /// <param name="concurrency">Messages handed over at once.</param>
    /// <param name="findLayout">Returns what the endpoint needs at the broker.</param>
    public BrokerInboundEndpoint Create(
        Func<IBrokers, AnswerSender?, TimeProvider, IDeliveryFormat> createFormat,
        int prefetch,
        int concurrency,
        Func<CancellationToken, Task<BrokerLayout>> findLayout
    )
    {
        var (brokers, time, loggers) = (
            services.GetRequiredService<IBrokers>(),
            services.GetRequiredService<TimeProvider>(),
            services.GetRequiredService<ILoggerFactory>()
        );
        var answers =
            config.Mode == ExchangePattern.OneWay
                ? null
                : new AnswerSender(
                    config.Name,
                    brokers.CreatePublisher(broker, config.Name, BrokerLayout.Empty),
                    time,
                    loggers.CreateLogger<AnswerSender>()
                );
        var admission = services.GetRequiredService<Admissions>().Of(config, intake.NeedsTopics);
        var format = createFormat(brokers, answers, time);
        var desk = new DeliveryDesk(
            config,
            format,
            intake,
            answers,
            admission,
            services.GetRequiredService<IDeadLetterChannel>(),
            time,
            loggers.CreateLogger<DeliveryDesk>()
        );
        return new BrokerInboundEndpoint(
            desk,
            answers,
            async (handler, token) =>
                brokers.CreateReader(
                    broker,
                    new BrokerReading(config.Name, await findLayout(token), prefetch, concurrency, handler.HandleAsync)
                    {
                        WaitForOpening = handler.WaitForOpeningAsync,
                    }
                )
        );
    }
}
