using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Workflows.Processes.Steps.Taps;
using NSubstitute;
using NSubstitute.ExceptionExtensions;
using NSubstitute.Extensions;

namespace Esb.Tests.Workflows.Processes;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase), NonParallelizable]
public sealed class WireTapTests : IDisposable
{
    private static readonly EsbMessage Order = Some.Message("""<order id="A-1"/>""");

    private readonly CompiledProcesses _processes = new(
        """
        { "main": [{ "wireTap": { "subject": "orders.copied", "maximumPending": 2 } }, { "set": { "properties": { "went": "on" } } }] }
        """
    );

    public WireTapTests() =>
        _processes
            .Publisher.CopyAsync(default!, default!, default!, default)
            .ReturnsForAnyArgs(call =>
                ValueTask.FromResult(new OutgoingMessage(call.Arg<MessageContext>().Message, "door", "main", default))
            );

    public void Dispose() => _processes.Dispose();

    [Test, CancelAfter(30_000)]
    public async Task Process_goes_on_while_the_copy_is_on_its_way_and_a_stop_waits_for_it(CancellationToken cancellationToken)
    {
        var arrival = new TaskCompletionSource<Task>();
        _processes.Outgoing.PublishAsync(default!, default).ReturnsForAnyArgs(arrival.Task);

        var context = await _processes.RunAsync(Order, cancellationToken);
        var stopping = _processes.Service<WireTaps>().StopAsync(cancellationToken);

        Assert.That((context.GetProperty("went"), context.Message, stopping.IsCompleted), Is.EqualTo(("on", Order, false)));
        arrival.SetResult(Task.CompletedTask);
        await stopping;
    }

    [Test, CancelAfter(30_000)]
    public async Task Copy_that_no_topic_takes_is_counted_and_does_not_befall_the_message(CancellationToken cancellationToken)
    {
        using var lost = new LostCopies();
        _processes
            .Outgoing.PublishAsync(default!, default)
            .ThrowsAsyncForAnyArgs(new EsbException("ESB-TOPIC-UNAVAILABLE", "No.", FaultKind.Unavailable));

        var context = await _processes.RunAsync(Order, cancellationToken);

        Assert.That((context.GetProperty("went"), context.Message), Is.EqualTo(("on", Order)));
        Assert.That(lost.Codes, Is.EqualTo(["ESB-TOPIC-UNAVAILABLE"]));
    }

    [Test, CancelAfter(30_000)]
    public async Task Copy_that_cannot_be_made_is_counted_and_does_not_befall_the_message(CancellationToken cancellationToken)
    {
        using var lost = new LostCopies();
        _processes
            .Publisher.Configure()
            .CopyAsync(default!, default!, default!, default)
            .ThrowsForAnyArgs(new EsbException("ESB-XML-SYNTAX", "There is no key.", FaultKind.Malformed));

        var context = await _processes.RunAsync(Order, cancellationToken);

        Assert.That((context.GetProperty("went"), context.Message), Is.EqualTo(("on", Order)));
        Assert.That(lost.Codes, Is.EqualTo(["ESB-XML-SYNTAX"]));
    }

    [Test, CancelAfter(30_000)]
    public async Task Copies_beyond_the_bound_are_counted_and_hold_nobody_up(CancellationToken cancellationToken)
    {
        using var lost = new LostCopies();
        var arrival = new TaskCompletionSource<Task>();
        _processes.Outgoing.PublishAsync(default!, default).ReturnsForAnyArgs(arrival.Task);

        for (var i = 0; i < 3; i++)
            await _processes.RunAsync(Order, cancellationToken);
        var codes = lost.Codes.ToList();
        arrival.SetResult(Task.CompletedTask);
        await _processes.Service<WireTaps>().StopAsync(cancellationToken);
        await _processes.RunAsync(Order, cancellationToken);

        Assert.That(codes, Is.EqualTo(["ESB-TAP-FULL"]));
        Assert.That(lost.Codes, Is.EqualTo(codes), "there is room again");
    }

    /// <summary>What the counter of lost copies is told.</summary>
    private sealed class LostCopies : IDisposable
    {
        private readonly MeterListener _listener = new();

        public LostCopies()
        {
            _listener.InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Name == EsbTelemetry.Metrics.LostCopies)
                    listener.EnableMeasurementEvents(instrument);
            };
            _listener.SetMeasurementEventCallback<long>(
                (_, _, tags, _) =>
                {
                    foreach (var (name, value) in tags)
                        if (name == EsbTelemetry.Tags.ErrorType)
                            Codes.Add((string)value!);
                }
            );
            _listener.Start();
        }

        public List<string> Codes { get; } = [];

        public void Dispose() => _listener.Dispose();
    }
}
