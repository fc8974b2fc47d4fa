using System.CommandLine;
using System.CommandLine.Parsing;
using Esb.Core.Storage;
using Esb.Host.Management.DeadLetters;

namespace Esb.Host.Commands.DeadLetters;

/// <summary>The options that select dead letters.</summary>
internal sealed class LetterOptions
{
    private readonly Option<string?> _endpoint = new("--endpoint") { Description = "The endpoint that gave them up." };
    private readonly Option<string?> _code = new("--code") { Description = "The code of their last failure." };
    private readonly Option<string?> _subject = new("--subject") { Description = "Their subject; with .# at its end also all below it." };
    private readonly Option<string?> _order = new("--order-key") { Description = "Their order key." };
    private readonly Option<Guid?> _message = new("--message") { Description = "The id of the message." };
    private readonly Option<DateTimeOffset?> _from = new Option<DateTimeOffset?>("--from")
    {
        Description = "Last tried not before, such as 2026-01-31T08:00:00Z.",
    }.AsTime();
    private readonly Option<DateTimeOffset?> _to = new Option<DateTimeOffset?>("--to") { Description = "Last tried before." }.AsTime();
    private readonly Option<DeadLetterState?> _state = new Option<DeadLetterState?>("--state") { Description = "Their state." }.AsName();
    private readonly Option<string?> _text = new("--text") { Description = "A text in their reason." };
    private readonly Option<Guid?> _job = new("--job") { Description = "The replay job that had them." };

    public LetterOptions(Command command)
    {
        foreach (var option in All)
            command.Add(option);
    }

    private IEnumerable<Option> All => [_endpoint, _code, _subject, _order, _message, _from, _to, _state, _text, _job];

    /// <summary>True if any of the options is given.</summary>
    public bool AreGiven(CommandResult result) => All.Any(option => result.GetResult(option) is not null);

    public FilterBody FilterOf(ParseResult result) =>
        new()
        {
            Endpoint = result.GetValue(_endpoint),
            Code = result.GetValue(_code),
            Subject = result.GetValue(_subject),
            Key = result.GetValue(_order),
            MessageId = result.GetValue(_message),
            From = result.GetValue(_from),
            To = result.GetValue(_to),
            State = result.GetValue(_state),
            Text = result.GetValue(_text),
            Job = result.GetValue(_job),
        };

    /// <summary>The same, but only open letters where neither a state nor one message or job is asked for.</summary>
    public FilterBody OpenFilterOf(ParseResult result) =>
        FilterOf(result) is { State: null, MessageId: null, Job: null } filter
            ? filter with
            {
                State = DeadLetterState.Open,
            }
            : FilterOf(result);

    /// <summary>The filter as request parameters.</summary>
    public string QueryOf(ParseResult result) => QueryOf(FilterOf(result));

    /// <summary>A filter as request parameters.</summary>
    public static string QueryOf(FilterBody filter)
    {
        var parameters = new (string Name, string? Value)[]
        {
            ("endpoint", filter.Endpoint),
            ("code", filter.Code),
            ("subject", filter.Subject),
            ("key", filter.Key),
            ("messageId", filter.MessageId?.ToString()),
            ("from", filter.From?.ToString("O")),
            ("to", filter.To?.ToString("O")),
            ("state", filter.State is { } state ? CommandJson.NameOf(state) : null),
            ("text", filter.Text),
            ("job", filter.Job?.ToString()),
        };
        return string.Join(
            '&',
            parameters
                .Where(parameter => parameter.Value is not null)
                .Select(parameter => $"{parameter.Name}={Uri.EscapeDataString(parameter.Value!)}")
        );
    }
}
