using System.CommandLine;
using System.Globalization;
using Esb.Core.Messages;
using Esb.Core.Processes.Tracing;
using Esb.Host.Management.Traces;

namespace Esb.Host.Commands.Tracing;

/// <summary><c>esb trace ENDPOINT [--for 5m] [--where x=y] [--count 20] [--bodies]</c>: shows what each step does with the messages of an
/// endpoint.</summary>
internal sealed class TraceCommand : Command
{
    private const int MostLooks = 20;

    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(500);

    private readonly Argument<string> _endpoint = new("endpoint") { Description = "An endpoint with a process." };
    private readonly Option<string> _for = new("--for") { Description = "How long it records, up to 1h.", DefaultValueFactory = _ => "5m" };
    private readonly Option<string[]> _where = new("--where")
    {
        Description =
            "Only messages with this NAME=VALUE: a field of the audit, header.NAME, property.NAME, subject, party, key or id; repeatable.",
    };
    private readonly Option<int> _count = new("--count")
    {
        Description = "Messages on each host after which it ends.",
        DefaultValueFactory = _ => 20,
    };
    private readonly Option<bool> _bodies = new("--bodies") { Description = "Also shows the masked bodies that steps found and left." };
    private readonly Option<string?> _reason = new("--reason") { Description = "Why, for the record." };
    private readonly HostOptions _host;

    public TraceCommand(CommandContext context)
        : base("trace", "Records the steps of the messages of an endpoint, with their masked bodies, for a while.")
    {
        Add(_endpoint);
        foreach (var option in new Option[] { _for, _where, _count, _bodies, _reason })
            Add(option);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => TraceAsync(result, context, cancellationToken));
    }

    private async Task<int> TraceAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var body = new TraceBody
        {
            Endpoint = result.GetRequiredValue(_endpoint),
            For = result.GetRequiredValue(_for),
            Where = result.GetValue(_where) ?? [],
            Count = result.GetValue(_count),
            Reason = result.GetValue(_reason),
        };
        var trace = await client.PostAsync<TraceView>("api/traces", body, cancellationToken);
        await context.Output.WriteLineAsync(
            $"trace {trace.Id} of {trace.Endpoint} on {string.Join(", ", trace.Hosts)}, until "
                + string.Create(CultureInfo.InvariantCulture, $"{trace.EndsAt:HH:mm:ss} UTC or {trace.Count} messages on each host")
        );
        try
        {
            return await FollowAsync(client, trace.Id, result.GetValue(_bodies), context, cancellationToken);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // Ctrl-C ends the trace too, instead of leaving it to its time.
            await client.DeleteAsync<TraceView>($"api/traces/{trace.Id}", CancellationToken.None);
            throw;
        }
    }

    private static async Task<int> FollowAsync(
        ManagementClient client,
        Guid id,
        bool showsBodies,
        CommandContext context,
        CancellationToken cancellationToken
    )
    {
        var (shown, waited) = (new HashSet<Guid>(), 0);
        while (true)
        {
            var trace = await client.GetAsync<TraceView>($"api/traces/{id}", cancellationToken);
            // A message may still be on its way when the last one that counts has begun.
            var isOver =
                trace.State != TraceState.Running
                && (trace.State != TraceState.Full || trace.Messages.All(IsThrough) || ++waited > MostLooks);
            foreach (var pass in trace.Messages.Where(pass => isOver || IsThrough(pass)))
            {
                if (shown.Add(pass.Id))
                    Write(
                        await client.GetAsync<TracedMessage>($"api/traces/{id}/messages/{pass.Id}", cancellationToken),
                        showsBodies,
                        context.Output
                    );
            }

            if (isOver)
            {
                await context.Output.WriteLineAsync(
                    $"{trace.State.ToString().ToLowerInvariant()}, {Counted.Of(trace.Messages.Count, "message")}"
                );
                return ExitCode.Done;
            }

            await Task.Delay(Look, cancellationToken);
        }
    }

    private static bool IsThrough(TracedPass pass) => pass.Outcome != TraceOutcome.Running;

    private static void Write(TracedMessage message, bool showsBodies, TextWriter output)
    {
        var pass = message.Pass;
        output.WriteLine();
        output.WriteLine(
            string.Create(
                CultureInfo.InvariantCulture,
                $"{pass.StartedAt:HH:mm:ss.fff} message {pass.MessageId} {pass.Outcome.ToString().ToLowerInvariant()}"
                    + $"{(pass.Seconds is { } seconds ? $" in {Duration(seconds)}" : "")} on {pass.Host}"
            )
        );
        if (pass.Code is { } code)
            output.WriteLine($"  {code}: {SafeText.Of(pass.Reason ?? "", int.MaxValue)}");
        TextTable.Write(output, message.Steps.Select(step => RowOf(step, message)));
        if (message.FurtherSteps > 0)
            output.WriteLine($"  {message.FurtherSteps} further steps were not recorded");
        if (!showsBodies)
            return;
        foreach (var body in message.Bodies)
        {
            output.WriteLine($"  body {body.Number}, {body.State.ToString().ToLowerInvariant()}, {body.ContentType ?? "no content type"}");
            foreach (var line in body.Text?.Split('\n') ?? [])
                output.WriteLine($"    {SafeText.Of(line, int.MaxValue)}");
        }
    }

    private static string[] RowOf(TracedStep step, TracedMessage message) =>
        [
            $"  +{Duration(step.Offset)}",
            step.Kind,
            step.Place,
            step.Seconds is { } seconds ? Duration(seconds) : "-",
            step.Code ?? (step.After is { } after && after != step.Before ? $"body {step.Before} → {StateOf(message, after)}" : "-"),
        ];

    private static string StateOf(TracedMessage message, int number) =>
        message.Bodies[number] is { Bytes: { } bytes } ? $"{number}, {bytes} bytes" : $"{number}";

    private static string Duration(double seconds) =>
        seconds < 1
            ? string.Create(CultureInfo.InvariantCulture, $"{seconds * 1000:0.###} ms")
            : string.Create(CultureInfo.InvariantCulture, $"{seconds:0.###} s");
}
