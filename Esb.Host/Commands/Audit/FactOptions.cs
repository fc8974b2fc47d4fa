using System.CommandLine;
using System.CommandLine.Parsing;
using Esb.Core.Audit;
using Esb.Host.Management.Messages;

namespace Esb.Host.Commands.Audit;

/// <summary>The options that select facts.</summary>
internal sealed class FactOptions
{
    private readonly Option<Guid?> _id = new("--id") { Description = "The id of the message." };
    private readonly Option<string[]> _where = new Option<string[]>("--where")
    {
        Description = "A field and its value, such as order=A-1001; several must all hold.",
        HelpName = "name=value",
    }.AsPairs();
    private readonly Option<string?> _endpoint = new("--endpoint") { Description = "The endpoint where it happened." };
    private readonly Option<string?> _process = new("--process") { Description = "The process in which it happened." };
    private readonly Option<AuditKind?> _kind = new Option<AuditKind?>("--kind") { Description = "What happened." }.AsName();
    private readonly Option<bool> _failed = new("--failed")
    {
        Description = "Only what went wrong: refused, failed, dead-lettered, discarded.",
    };
    private readonly Option<string?> _party = new("--party") { Description = "Who sent it." };
    private readonly Option<string?> _trace = new("--trace") { Description = "The trace, 32 hexadecimal digits." };
    private readonly Option<DateTimeOffset?> _from = new Option<DateTimeOffset?>("--from")
    {
        Description = "Not before, such as 2026-01-31T08:00:00Z.",
    }.AsTime();
    private readonly Option<DateTimeOffset?> _to = new Option<DateTimeOffset?>("--to") { Description = "Before." }.AsTime();

    public FactOptions(Command command, string endpointOption = "--endpoint")
    {
        if (endpointOption != _endpoint.Name)
            _endpoint = new Option<string?>(endpointOption) { Description = _endpoint.Description };
        foreach (var option in All)
            command.Add(option);
        command.Validators.Add(result =>
        {
            if (result.GetResult(_kind) is not null && result.GetValue(_failed))
                result.AddError("--failed: expected without --kind");
            if (result.GetValue(_trace) is { } trace && !MessageParameters.IsTrace(trace))
                result.AddError($"--trace: {MessageParameters.Trace}");
        });
    }

    private IEnumerable<Option> All => [_id, _where, _endpoint, _process, _kind, _failed, _party, _trace, _from, _to];

    /// <summary>True if any of the options is given.</summary>
    public bool AreGiven(CommandResult result) => All.Any(option => result.GetResult(option) is not null);

    /// <exception cref="CommandException">The combination of options cannot match any fact.</exception>
    public AuditQuery QueryOf(ParseResult result)
    {
        var query = ReadQuery(result);
        return query.From >= query.To
            ? throw new CommandException(ExitCode.Usage, "ESB-CLI-USAGE", "--to: expected later than --from")
            : query;
    }

    private AuditQuery ReadQuery(ParseResult result) =>
        new()
        {
            MessageId = result.GetValue(_id),
            Where = (result.GetValue(_where) ?? []).Select(pair => pair.Split('=', 2)).ToDictionary(pair => pair[0], pair => pair[1]),
            Endpoint = result.GetValue(_endpoint),
            Process = result.GetValue(_process),
            Kind = result.GetValue(_kind),
            OnlyFailures = result.GetValue(_failed),
            Party = result.GetValue(_party),
            TraceId = result.GetValue(_trace),
            From = result.GetValue(_from),
            To = result.GetValue(_to),
            WithBodies = false,
        };
}
