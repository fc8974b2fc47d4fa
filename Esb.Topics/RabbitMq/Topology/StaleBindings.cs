using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Farm;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Removes bindings that no host needs any more. Required patterns are bound before a host consumes; removal follows, and late
/// rather than early.</summary>
/// <remarks>
/// During a rollout, hosts with the old and the new configuration coexist, and either may be restarted. A pattern is therefore unbound only
/// by a host of the newest configuration, and only if no live host needs it. If a host with an older configuration sees no other one for
/// long, the rollout was reverted; before that, the host may be a straggler.
/// </remarks>
internal sealed partial class StaleBindings(
    Subscription subscription,
    RabbitMqNames names,
    RabbitMqTopology topology,
    EndpointRecords records,
    FarmMembers farm,
    TimeProvider time,
    ILogger logger
)
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Settling = TimeSpan.FromSeconds(5); // more than two heartbeats: every live host has been heard
    private static readonly TimeSpan RolledBackAfter = TimeSpan.FromMinutes(10);

    private readonly IReadOnlyList<string> _wanted = EndpointRecord.PatternsOf(subscription);
    private long _agreedSince;
    private volatile bool _isSettled;

    /// <summary>Checks periodically until stopped.</summary>
    public async Task RunAsync(BrokerConnection connection, CancellationToken stopping)
    {
        _agreedSince = time.GetTimestamp();
        Action note = () => _isSettled = false;
        farm.Changed += note;
        try
        {
            while (true)
            {
                await Task.Delay(Interval, time, stopping);
                if (farm.HearingFor < Settling || connection.Current is not { } current)
                    _isSettled = false;
                else if (!_isSettled)
                    _isSettled = await TrySettleAsync(current, stopping);
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // The subscription ended.
        }
        finally
        {
            farm.Changed -= note;
        }
    }

    // Returns true if nothing is left to do until a host joins or leaves.
    private async Task<bool> TrySettleAsync(IConnection connection, CancellationToken stopping)
    {
        try
        {
            return await SettleAsync(connection, stopping);
        }
        catch (Exception ex) when (ex is not OperationCanceledException || !stopping.IsCancellationRequested)
        {
            LogNotSettled(subscription.Endpoint, ex);
            return false;
        }
    }

    private async Task<bool> SettleAsync(IConnection connection, CancellationToken stopping)
    {
        var wantedByAll = farm.ReceiversOf(subscription.Endpoint)
            .SelectMany(receiver => receiver.Receiver.Patterns)
            .Concat(_wanted)
            .ToHashSet();
        if (!wantedByAll.SetEquals(_wanted))
            _agreedSince = time.GetTimestamp();
        if (names.Chosen(subscription.Endpoint) is not { } queues)
            return false;
        await using var channel = await connection.CreateChannelAsync(cancellationToken: stopping);
        var open = await records.OpenAsync(connection, channel, queues, stopping);
        if (open.Record is not { IsMigrating: false } record)
            return false;
        var stale = record.Bound.Except(wantedByAll).ToList();
        if (stale.Count == 0)
            return true;
        if (!record.IsNewest(_wanted) && time.GetElapsedTime(_agreedSince) < RolledBackAfter)
            return false;
        foreach (var pattern in stale.Select(SubjectPattern.Parse).OfType<SubjectPattern>())
            await topology.UnbindAsync(channel, queues, subscription, pattern, stopping);
        var left = record.Generations.Where(patterns => patterns.All(wantedByAll.Contains) && !patterns.SequenceEqual(_wanted));
        await records.ReplaceAsync(channel, queues, open, record with { Generations = [.. left, _wanted] }, stopping);
        LogUnbound(subscription.Endpoint, stale);
        return true;
    }

    [LoggerMessage(
        EventId = 1528,
        Level = LogLevel.Information,
        Message = "Endpoint {Endpoint} was unbound from {Patterns}: no host subscribes to them"
    )]
    private partial void LogUnbound(string endpoint, IReadOnlyList<string> patterns);

    [LoggerMessage(EventId = 1529, Level = LogLevel.Debug, Message = "The bindings of {Endpoint} could not be compared; trying again")]
    private partial void LogNotSettled(string endpoint, Exception exception);
}
