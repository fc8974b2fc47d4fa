using System.CommandLine;
using Esb.Core.Configuration;
using Esb.Core.Messages;

namespace Esb.Host.Commands.Messages;

/// <summary><c>esb send SUBJECT --file F [--count N --batch 300 --delay 10ms]</c></summary>
internal sealed class SendCommand : Command
{
    private const int MaxBatch = 1_000;

    private readonly Argument<string> _subject = new("subject") { Description = "Where to publish, such as orders.new." };
    private readonly Option<string> _file = new("--file") { Description = "The body of the messages.", Required = true };
    private readonly Option<string?> _contentType = new Option<string?>("--content-type")
    {
        Description = "The media type; by default as the file's name ends.",
    }.AsContentType();
    private readonly Option<int> _count = new Option<int>("--count")
    {
        Description = "How many messages.",
        DefaultValueFactory = _ => 1,
    }.Within(1, int.MaxValue);
    private readonly Option<int> _batch = new Option<int>("--batch")
    {
        Description = "How many are handed over at once.",
        DefaultValueFactory = _ => 300,
    }.Within(1, MaxBatch);
    private readonly Option<string> _delay = new Option<string>("--delay")
    {
        Description = "The pause between batches, such as 10ms.",
        DefaultValueFactory = _ => "0ms",
    }.AsDuration();
    private readonly Option<string[]> _headers = new Option<string[]>("--header")
    {
        Description = "A header of the message, such as x-order=A-1; several. Names begin with x-.",
        HelpName = "name=value",
    }.AsPairs();
    private readonly HostOptions _host;

    public SendCommand(CommandContext context)
        : base("send", "Publishes a file through a running host, once or many times over.")
    {
        Add(_subject);
        Add(_file);
        Add(_contentType);
        Add(_count);
        Add(_batch);
        Add(_delay);
        Add(_headers);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => SendAsync(result, context, cancellationToken));
    }

    private async Task<int> SendAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var file = result.GetRequiredValue(_file);
        var job = new BulkSend(client, context.Time)
        {
            Subject = result.GetRequiredValue(_subject),
            Body = await CommandFiles.ReadAsync(file, cancellationToken),
            ContentType = result.GetValue(_contentType) ?? CommandFiles.ContentTypeOf(file),
            Headers = HeadersOf(result),
            Count = result.GetValue(_count),
            Batch = result.GetValue(_batch),
            Delay = Duration.TryParse(result.GetRequiredValue(_delay), out var delay) ? delay : TimeSpan.Zero,
        };
        await SendProgress.ShowAsync(job, context, cancellationToken);
        return ExitCode.Done;
    }

    // The host would leave out the others, and the message would not be the one that was to be tried.
    private Dictionary<string, string> HeadersOf(ParseResult result)
    {
        var headers = (result.GetValue(_headers) ?? []).Select(pair => pair.Split('=', 2)).ToDictionary(pair => pair[0], pair => pair[1]);
        foreach (var (name, value) in headers)
        {
            if (!name.StartsWith("x-", StringComparison.OrdinalIgnoreCase) || !HeaderRules.IsValue(value))
                throw new CommandException(
                    ExitCode.Usage,
                    "ESB-CLI-USAGE",
                    $"--header: expected a name that begins with x- and a value of one line, not '{SafeText.Of(name, 100)}'"
                );
        }

        return headers;
    }
}
