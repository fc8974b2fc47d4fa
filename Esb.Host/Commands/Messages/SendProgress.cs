using Esb.Host.Management;
using Spectre.Console;
using Spectre.Console.Rendering;

namespace Esb.Host.Commands.Messages;

/// <summary>Shows the progress of a bulk send: a bar with the rate on a terminal, otherwise a line at intervals.</summary>
internal static class SendProgress
{
    private static readonly TimeSpan LineInterval = TimeSpan.FromSeconds(2);

    public static async Task ShowAsync(BulkSend job, CommandContext context, CancellationToken cancellationToken)
    {
        var started = context.Time.GetTimestamp();
        var receipt =
            context.IsInteractive && job.Count > job.Batch
                ? await ShowBarAsync(job, context, cancellationToken)
                : await ShowLinesAsync(job, context, started, cancellationToken);
        var elapsed = context.Time.GetElapsedTime(started);
        var what = job.Count == 1 ? $"message {receipt.MessageId}" : Counted.Of(job.Count, "message");
        context.Output.WriteLine(
            $"{what} sent to {job.Subject} in {elapsed.TotalSeconds:0.00} s "
                + $"({Rate(job.Count, elapsed)}){(receipt.Durable ? "" : "; not durable: they die with the host")}"
        );
    }

    private static async Task<SendReceipt> ShowLinesAsync(
        BulkSend job,
        CommandContext context,
        long started,
        CancellationToken cancellationToken
    )
    {
        var lastLine = started;
        return await job.RunAsync(
            sent =>
            {
                if (context.Time.GetElapsedTime(lastLine) < LineInterval)
                    return;
                lastLine = context.Time.GetTimestamp();
                context.Error.WriteLine($"{sent} of {job.Count} ({Rate(sent, context.Time.GetElapsedTime(started))})");
            },
            cancellationToken
        );
    }

    private static Task<SendReceipt> ShowBarAsync(BulkSend job, CommandContext context, CancellationToken cancellationToken)
    {
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(context.Error) });
        return console
            .Progress()
            .AutoClear(true)
            .Columns(
                new TaskDescriptionColumn(),
                new ProgressBarColumn(),
                new PercentageColumn(),
                new RateColumn(),
                new RemainingTimeColumn()
            )
            .StartAsync(progress =>
            {
                var task = progress.AddTask(Markup.Escape(job.Subject), maxValue: job.Count);
                return job.RunAsync(sent => task.Value = sent, cancellationToken);
            });
    }

    private static string Rate(int count, TimeSpan elapsed) => $"{count / Math.Max(elapsed.TotalSeconds, 0.001):0}/s";

    private sealed class RateColumn : ProgressColumn
    {
        public override IRenderable Render(RenderOptions options, ProgressTask task, TimeSpan deltaTime) =>
            new Text($"{task.Speed ?? 0:0}/s");
    }
}
