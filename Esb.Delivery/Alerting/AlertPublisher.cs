using System.Collections.Concurrent;
using System.Text.Json;
using System.Threading.Channels;
using Esb.Core;
using Esb.Core.Alerts;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Alerting;

/// <summary>Publishes alerts as JSON to <c>esb-events.NAME.KIND</c>, NAME being that of the configuration. Thread-safe.</summary>
/// <remarks>The publisher is resolved when it is first used: topics and audit may raise alerts themselves.</remarks>
internal sealed partial class AlertPublisher(
    IServiceProvider services,
    BusIdentity bus,
    Live<IReadOnlyDictionary<string, TopicConfig>> topics,
    Live<EndpointModels> endpoints,
    TimeProvider time,
    ILogger<AlertPublisher> logger
) : IAlerts, IBusPart
{
    /// <summary>The least time between two alerts of one kind, endpoint and mark.</summary>
    public static readonly TimeSpan Pace = TimeSpan.FromMinutes(1);

    private const string Source = "alerts";
    private static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web);
    private static readonly TimeSpan PublishTime = TimeSpan.FromSeconds(10);

    // Bounded by the number of endpoints and kinds, and by the pace; what does not fit is dropped, because alerts must not use up memory.
    private readonly Channel<Raised> _waiting = Channel.CreateBounded<Raised>(
        new BoundedChannelOptions(1_000) { FullMode = BoundedChannelFullMode.DropWrite, SingleReader = true }
    );
    private readonly ConcurrentDictionary<(string Kind, string? Endpoint, string? Mark), Paced> _paced = new();
    private readonly CancellationTokenSource _stopping = new();
    private Task _publishing = Task.CompletedTask;

    public BusStage Stage => BusStage.Outbound;

    public void Raise(Alert alert)
    {
        if (!topics.Current.ContainsKey(IAlerts.Topic) || SubscribesToAlerts(alert.Endpoint))
            return;
        var paced = _paced.GetOrAdd((alert.Kind, alert.Endpoint, alert.Mark), _ => new Paced());
        long suppressed;
        lock (paced)
        {
            var now = time.GetTimestamp();
            if (paced.LastAt is { } last && time.GetElapsedTime(last, now) < Pace)
            {
                paced.Suppressed++;
                return;
            }

            (suppressed, paced.Suppressed, paced.LastAt) = (paced.Suppressed, 0, now);
        }

        _waiting.Writer.TryWrite(new Raised(alert, time.GetUtcNow(), suppressed));
    }

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _publishing = Task.Run(() => RunAsync(_stopping.Token), CancellationToken.None);
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _publishing;
        _stopping.Dispose();
    }

    // An alert about its own delivery would raise the next one.
    private bool SubscribesToAlerts(string? endpoint) =>
        endpoint is not null
        && endpoints
            .Current.Outbound.FirstOrDefault(model => model.Config.Name == endpoint)
            ?.Config.Subscribe.Any(pattern => TopicNames.Of(pattern.Value) == IAlerts.Topic) == true;

    private async Task RunAsync(CancellationToken stopping)
    {
        try
        {
            await foreach (var raised in _waiting.Reader.ReadAllAsync(stopping))
                await PublishAsync(raised, stopping);
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            return; // what still waits would come after the end of the host
        }
    }

    private async Task PublishAsync(Raised raised, CancellationToken stopping)
    {
        using var late = CancellationTokenSource.CreateLinkedTokenSource(stopping);
        late.CancelAfter(PublishTime);
        try
        {
            var alert = raised.Alert;
            var body = new
            {
                kind = alert.Kind,
                name = bus.Name,
                host = Environment.MachineName,
                at = raised.At,
                endpoint = alert.Endpoint,
                mark = alert.Mark,
                code = alert.Code,
                reason = alert.Reason,
                messageId = alert.MessageId,
                suppressed = raised.Suppressed,
            };
            var message = EsbMessage.Create(MessageBody.FromBytes(JsonSerializer.SerializeToUtf8Bytes(body, Json)), time) with
            {
                ContentType = "application/json",
            };
            await services
                .GetRequiredService<ITopicPublisher>()
                .PublishAsync(
                    new MessageContext(message, Source),
                    new Subject($"{IAlerts.Topic}.{bus.Name}.{alert.Kind}"),
                    Source,
                    late.Token
                );
        }
        catch (Exception ex) when (ex is EsbException || (ex is OperationCanceledException && !stopping.IsCancellationRequested))
        {
            LogNotPublished(raised.Alert.Kind, raised.Alert.Endpoint ?? "-", ex);
        }
    }

    [LoggerMessage(EventId = 2670, Level = LogLevel.Warning, Message = "The alert {Kind} of {Endpoint} could not be published")]
    private partial void LogNotPublished(string kind, string endpoint, Exception exception);

    private sealed record Raised(Alert Alert, DateTimeOffset At, long Suppressed);

    private sealed class Paced
    {
        public long? LastAt { get; set; }

        public long Suppressed { get; set; }
    }
}
