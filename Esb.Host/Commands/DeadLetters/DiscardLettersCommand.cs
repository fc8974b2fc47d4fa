using System.CommandLine;
using Esb.Host.Management.DeadLetters;

namespace Esb.Host.Commands.DeadLetters;

/// <summary><c>esb dead-letters discard [ID…] [options] --reason "…"</c></summary>
internal sealed class DiscardLettersCommand : Command
{
    private readonly Option<string> _reason = new("--reason") { Description = "Why, for the record.", Required = true };
    private readonly LetterSelection _letters;
    private readonly HostOptions _host;

    public DiscardLettersCommand(CommandContext context)
        : base("discard", "Discards dead letters. They are kept, and can still be shown.")
    {
        _letters = new LetterSelection(this);
        Add(_reason);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => DiscardAsync(result, context, cancellationToken));
    }

    private async Task<int> DiscardAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var (ids, filter) = _letters.Of(result);
        var body = new DeadLetterSelection
        {
            Ids = ids,
            Filter = filter,
            Reason = result.GetRequiredValue(_reason),
        };
        var receipt = await client.PostAsync<DiscardReceipt>("api/dead-letters/discard", body, cancellationToken);
        context.Output.WriteLine($"{Counted.Of(receipt.Discarded, "dead letter")} discarded");
        return ExitCode.Done;
    }
}
