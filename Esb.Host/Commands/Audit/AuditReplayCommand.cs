using System.CommandLine;
using Esb.Core.Messages;
using Esb.Core.Replays;
using Esb.Host.Management.Messages;

namespace Esb.Host.Commands.Audit;

/// <summary><c>esb audit replay ID --endpoint E</c>, or <c>esb audit replay [options] --endpoint E --limit N [--preview]</c></summary>
internal sealed class AuditReplayCommand : Command
{
    private const int MaxShown = 20;

    private readonly Argument<Guid?> _message = new Argument<Guid?>("id")
    {
        Description = "The id of a message; none where options say which.",
        Arity = ArgumentArity.ZeroOrOne,
    }.AsOptionalMessageId();
    private readonly Option<string> _endpoint = new("--endpoint") { Description = "The endpoint whose queue gets it.", Required = true };
    private readonly Option<Guid?> _fact = new("--fact")
    {
        Description = "The fact whose body is sent; by default the one that holds the message as it was published.",
    };
    private readonly Option<bool> _again = new("--again") { Description = "Sends it although it was replayed there already." };
    private readonly Option<bool> _outOfOrder = new("--out-of-order")
    {
        Description = "Sends it although later messages may have overtaken it at an endpoint that delivers in order.",
    };
    private readonly Option<string?> _reason = new("--reason") { Description = "Why, for the record." };
    private readonly Option<string?> _command = new Option<string?>("--command")
    {
        Description = "A name of your own for this command: given again, it is done once.",
    }.AsLine();
    private readonly Option<int?> _limit = new Option<int?>("--limit")
    {
        Description = "The most messages; needed where the options find more than 1,000.",
    }.Within(1, 1_000_000);
    private readonly Option<bool> _preview = new("--preview") { Description = "Only counts what would be sent." };
    private readonly FactOptions _facts;
    private readonly HostOptions _host;

    public AuditReplayCommand(CommandContext context)
        : base("replay", "Sends messages, as they are recorded, to the queue of an endpoint again.")
    {
        Add(_message);
        _facts = new FactOptions(this, "--at");
        foreach (var option in new Option[] { _endpoint, _fact, _again, _outOfOrder, _reason, _command, _limit, _preview })
            Add(option);
        _host = new HostOptions(this);
        Validators.Add(result =>
        {
            if (result.GetResult(_message) is { Tokens.Count: > 0 } == _facts.AreGiven(result))
                result.AddError("expected either the id of a message, or options that say which");
        });
        SetAction((result, cancellationToken) => ReplayAsync(result, context, cancellationToken));
    }

    private async Task<int> ReplayAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        if (result.GetValue(_message) is { } id && !result.GetValue(_preview))
            return await ReplayOneAsync(client, id, result, context, cancellationToken);

        var body = BodyOf(result);
        if (!result.GetValue(_preview))
            return await ReplayAllAsync(client, body, result, context, cancellationToken);
        var preview = await client.PostAsync<AuditReplayPreview>("api/messages/replays/preview", body, cancellationToken);
        context.Output.WriteLine($"{(preview.HasMore ? "more than " : "")}{Counted.Of(preview.Messages, "message")}");
        if (preview.Obstacle is not null)
            context.Error.WriteLine(preview.Obstacle);
        return preview.Obstacle is null ? ExitCode.Done : ExitCode.Usage;
    }

    private async Task<int> ReplayOneAsync(
        ManagementClient client,
        Guid id,
        ParseResult result,
        CommandContext context,
        CancellationToken cancellationToken
    )
    {
        var body = new AuditReplayBody
        {
            Endpoint = result.GetRequiredValue(_endpoint),
            Fact = result.GetValue(_fact),
            Again = result.GetValue(_again),
            OutOfOrder = result.GetValue(_outOfOrder),
            Reason = result.GetValue(_reason),
        };
        var replay = await client.PostAsync<AuditReplay>($"api/messages/{id}/replay", body, cancellationToken, result.GetValue(_command));
        context.Output.WriteLine($"{replay.MessageId} sent to {replay.Endpoint}");
        return ExitCode.Done;
    }

    // Sends part by part; the command name identifies a part that was sent twice because its answer was lost.
    private async Task<int> ReplayAllAsync(
        ManagementClient client,
        AuditReplaysBody body,
        ParseResult result,
        CommandContext context,
        CancellationToken cancellationToken
    )
    {
        var command = result.GetValue(_command) ?? Guid.CreateVersion7(context.Time.GetUtcNow()).ToString();
        var (replayed, refused) = (0, 0);
        while (true)
        {
            var part = await client.PostAsync<AuditReplayReceipt>("api/messages/replays", body, cancellationToken, command);
            foreach (var message in part.Refused.Take(Math.Max(0, MaxShown - refused)))
                context.Error.WriteLine($"{message.Code} {SafeText.Of(message.Reason, int.MaxValue)}");
            replayed += part.Replayed;
            refused += part.Refused.Count;
            var left = body.Limit - part.Replayed - part.Refused.Count;
            if (part.Next is null || left <= 0)
                break;
            body = body with { Before = part.Next, First = part.First, Limit = left };
        }

        context.Output.WriteLine($"{Counted.Of(replayed, "message")} sent to {body.Endpoint}, {refused} refused");
        return refused == 0 ? ExitCode.Done : ExitCode.Failed;
    }

    private AuditReplaysBody BodyOf(ParseResult result)
    {
        var query = _facts.QueryOf(result);
        return new AuditReplaysBody
        {
            Filter = FactFilterBody.Of(result.GetValue(_message) is { } id ? query with { MessageId = id } : query),
            Endpoint = result.GetRequiredValue(_endpoint),
            Limit = result.GetValue(_limit),
            Again = result.GetValue(_again),
            OutOfOrder = result.GetValue(_outOfOrder),
            Reason = result.GetValue(_reason),
        };
    }
}
