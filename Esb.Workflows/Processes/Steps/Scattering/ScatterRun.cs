using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps.Scattering;

/// <summary>Calls or requests of one message at once, and the gathering of their answers.</summary>
/// <param name="branches">The calls or requests, in the order named.</param>
/// <param name="settings">The step.</param>
/// <param name="time">The clock.</param>
internal sealed class ScatterRun(IReadOnlyList<ScatterBranch> branches, ScatterConfig settings, TimeProvider time)
{
    private static readonly JsonWriterOptions Output = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true,
    };

    private readonly int _required = settings.Gather.As == GatherForm.First ? 1 : settings.Require.Count ?? branches.Count;

    /// <summary>Runs all branches; ends early with the first good answer if only that is wanted, and when the required number cannot be
    /// reached any more.</summary>
    /// <exception cref="EsbException"><c>ESB-SCATTER-INCOMPLETE</c> (504).</exception>
    public async ValueTask RunAsync(MessageContext context, string place, CancellationToken cancellationToken)
    {
        var division = context.NextDivision(place);
        using var timeout = new CancellationTokenSource(settings.Timeout, time);
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, timeout.Token);
        var parts = branches
            .Select((_, index) => context.ForBranch(context.Message with { Id = context.PartId(division, index) }))
            .ToList();
        var running = branches.Select((branch, index) => branch.RunAsync(parts[index], ended.Token, cancellationToken)).ToList();
        ScatterAnswer? first;
        try
        {
            first = await WaitAsync([.. running]);
        }
        finally
        {
            await ended.CancelAsync();
            await ((Task)Task.WhenAll(running)).ConfigureAwait(
                ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext
            );
            foreach (var part in parts)
                context.Join(part);
        }

        ScatterAnswer[] answers = [.. running.Select(task => task.Result)];
        if (answers.Count(answer => answer.Failure is null) < _required)
            throw Incomplete(answers);
        if (settings.Gather.As == GatherForm.First)
            TakeFirst(context, first!);
        else
            context.Message = context.Message with { Body = Gather(answers), ContentType = "application/json" };
    }

    private async Task<ScatterAnswer?> WaitAsync(List<Task<ScatterAnswer>> waiting)
    {
        ScatterAnswer? first = null;
        var good = 0;
        while (waiting.Count > 0 && good + waiting.Count >= _required && !(first is not null && settings.Gather.As == GatherForm.First))
        {
            var done = await Task.WhenAny(waiting);
            waiting.Remove(done);
            if ((await done) is not { Failure: null } answer)
                continue;
            first ??= answer;
            good++;
        }

        return first;
    }

    private static void TakeFirst(MessageContext context, ScatterAnswer first)
    {
        context.Message = first.Part.Message;
        context.SetProperty(MessageContext.StatusProperty, first.Part.GetProperty(MessageContext.StatusProperty));
        context.SetProperty("scatter.from", first.From);
    }

    private static MessageBody Gather(ScatterAnswer[] answers)
    {
        var output = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(output, Output))
        {
            writer.WriteStartArray();
            foreach (var answer in answers)
                Write(writer, answer);
            writer.WriteEndArray();
        }

        return MessageBody.FromBytes(output.WrittenMemory);
    }

    private static void Write(Utf8JsonWriter writer, ScatterAnswer answer)
    {
        writer.WriteStartObject();
        writer.WriteString("from", answer.From);
        if (answer.Failure is { } failure)
        {
            if (failure.CallAnswer is { } refused)
                writer.WriteNumber("status", refused.Status);
            writer.WriteStartObject("error");
            writer.WriteString("code", failure.Code);
            writer.WriteString("reason", failure.Message);
            writer.WriteEndObject();
        }
        else
        {
            if (answer.Part.GetProperty(MessageContext.StatusProperty) is double status)
                writer.WriteNumber("status", (int)status);
            writer.WritePropertyName("body");
            writer.WriteRawValue(answer.Json.Span, skipInputValidation: true);
        }

        writer.WriteEndObject();
    }

    private EsbException Incomplete(ScatterAnswer[] answers)
    {
        var failed = answers.Where(answer => answer.Failure is not null).Select(answer => $"{answer.From}: {answer.Failure!.Code}");
        return new EsbException(
            "ESB-SCATTER-INCOMPLETE",
            $"{answers.Count(answer => answer.Failure is null)} of {answers.Length} gave a good answer, {_required} had to "
                + $"({string.Join(", ", failed)}).",
            FaultKind.Timeout
        );
    }
}
