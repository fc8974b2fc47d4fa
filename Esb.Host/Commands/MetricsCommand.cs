using System.CommandLine;
using System.Globalization;
using Esb.Core.Workflows;
using Esb.Host.Management.Metrics;

namespace Esb.Host.Commands;

/// <summary><c>esb metrics</c>: shows the metrics of a running host.</summary>
internal sealed class MetricsCommand : Command
{
    private static readonly string[] Header = ["", "NAME", "IN", "IN/S", "OUT", "OUT/S", "INBOUND", "REQUEST", "OUTBOUND", "ADAPTER"];
    private static readonly string[] UsageHeader = ["", "NAME", "IN USE", "MAXIMUM", "SHARE", "PEAK", "PEAK SHARE", "WAITS"];

    private static readonly WorkflowState[] Shown = [WorkflowState.Running, WorkflowState.Waiting, WorkflowState.Suspended];
    private static readonly string[] WorkflowHeader =
    [
        "WORKFLOW",
        .. Shown.Select(state => state.ToString().ToUpperInvariant()),
        "STARTED",
        "STARTED/S",
        "ENDED",
        "STOPPED",
        "CHECKPOINT",
    ];

    private readonly ListOutput _list;
    private readonly HostOptions _host;

    public MetricsCommand(CommandContext context)
        : base(
            "metrics",
            "Shows what a running host measured: documents and their rates over 10 s, latencies at the 95th percentile of five "
                + "minutes, and what is in use."
        )
    {
        _list = new ListOutput(this);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ShowAsync(result, context, cancellationToken));
    }

    private async Task<int> ShowAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var metrics = await client.GetAsync<MetricsView>("api/metrics", cancellationToken);
        if (_list.TryWrite(result, context, metrics))
            return ExitCode.Done;
        TextTable.Write(
            context.Output,
            [
                Header,
                Row("total", metrics.Total with { Name = metrics.Host }),
                .. Rows("endpoint", metrics.Endpoints),
                .. Rows("topic", metrics.Topics),
                .. Rows("party", metrics.Parties),
            ]
        );
        await context.Output.WriteLineAsync();
        TextTable.Write(
            context.Output,
            [
                UsageHeader,
                .. metrics.Calls.Select(usage => Row("calls", usage)),
                .. metrics.Instances.Select(usage => Row("instances", usage)),
            ]
        );
        if (metrics.Workflows.Count > 0)
        {
            await context.Output.WriteLineAsync();
            TextTable.Write(context.Output, [WorkflowHeader, .. metrics.Workflows.Select(Row)]);
        }

        if (metrics.AuditQueue is { Waiting: > 0 } queue)
            await WriteAsync(context.Output, queue);
        return ExitCode.Done;
    }

    private static async Task WriteAsync(TextWriter output, AuditQueueView queue)
    {
        await output.WriteLineAsync();
        var oldest = queue.OldestAge is { } age ? string.Create(CultureInfo.InvariantCulture, $", the oldest for {age:0.#} s") : "";
        await output.WriteLineAsync(
            string.Create(
                CultureInfo.InvariantCulture,
                $"{queue.Waiting} audit facts wait for their store{oldest}; they take {(double)queue.Bytes / queue.MaxBytes:0.0 %} "
                    + $"of the spool."
            )
        );
    }

    private static IEnumerable<string[]> Rows(string kind, IEnumerable<MeasuredView> measured) => measured.Select(one => Row(kind, one));

    private static string[] Row(string kind, MeasuredView measured) =>
        [
            kind,
            measured.Name,
            Number(measured.DocumentsIn?.Total),
            Rate(measured.DocumentsIn),
            Number(measured.DocumentsOut?.Total),
            Rate(measured.DocumentsOut),
            Time(measured.InboundLatency),
            Time(measured.RequestResponseLatency),
            Time(measured.OutboundLatency),
            Time(measured.OutboundAdapterLatency),
        ];

    private static string[] Row(WorkflowMeasuredView workflow) =>
        [
            workflow.Name,
            .. Shown.Select(state => Number(workflow.Living.GetValueOrDefault(WorkflowMeasuredView.NameOf(state)))),
            Number(workflow.Started?.Total),
            Rate(workflow.Started),
            Number(workflow.Ended?.Total),
            Number(workflow.Stopped?.Total),
            Time(workflow.CheckpointDuration),
        ];

    private static string[] Row(string kind, UsageView usage) =>
        [
            kind,
            usage.Name,
            Number(usage.InUse),
            Number(usage.Maximum),
            Share(usage.Share),
            Number(usage.Peak),
            Share(usage.PeakShare),
            Number(usage.Waits),
        ];

    private static string Number(long? number) => number?.ToString(CultureInfo.InvariantCulture) ?? "-";

    private static string Rate(CountView? count) => count?.PerSecond10s.ToString("0.0", CultureInfo.InvariantCulture) ?? "-";

    private static string Share(double share) => share.ToString("0.0 %", CultureInfo.InvariantCulture);

    private static string Time(LatencyView? latency) =>
        latency?.P95 is { } seconds ? (seconds * 1000).ToString("0.0 'ms'", CultureInfo.InvariantCulture) : "-";
}
