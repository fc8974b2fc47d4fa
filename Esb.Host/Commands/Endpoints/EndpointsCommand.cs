using System.CommandLine;
using System.Text.Json;
using Esb.Core.Endpoints;

namespace Esb.Host.Commands.Endpoints;

/// <summary><c>esb endpoints list|set|reset|pause|resume</c></summary>
internal sealed class EndpointsCommand : Command
{
    public EndpointsCommand(CommandContext context)
        : base("endpoints", "Shows how the endpoints of a running host stand, and changes them while they work.")
    {
        Add(new ListCommand(context));
        Add(new EndpointsSetCommand(context));
        Add(new EndpointsResetCommand(context));
        Add(new EndpointsPauseCommand(context, paused: true));
        Add(new EndpointsPauseCommand(context, paused: false));
    }

    private sealed class ListCommand : Command
    {
        private static readonly string[] Header = ["NAME", "TYPE", "STATE", "MESSAGES", "FAILURES", "IN FLIGHT", "INSTANCES", "REASON"];

        private readonly ListOutput _list;
        private readonly HostOptions _host;

        public ListCommand(CommandContext context)
            : base("list", "Lists the endpoints; INSTANCES are those in use, those that exist, and the maximum.")
        {
            _list = new ListOutput(this);
            _host = new HostOptions(this);
            SetAction((result, cancellationToken) => ListAsync(result, context, cancellationToken));
        }

        private async Task<int> ListAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
        {
            using var client = _host.Connect(result, context);
            var endpoints = await client.GetEndpointsAsync(cancellationToken);
            if (_list.TryWrite(result, context, endpoints))
                return ExitCode.Done;
            TextTable.Write(context.Output, endpoints.Select(Row).Prepend(Header));
            foreach (var one in endpoints.SelectMany(endpoint => endpoint.Tuned ?? []))
                await context.Output.WriteLineAsync(
                    $"{one.Endpoint}: {one.Setting} is tuned to {one.Value} by {one.By}, {one.At:yyyy-MM-ddTHH:mm:ssZ}"
                );
            foreach (var endpoint in endpoints.Where(endpoint => endpoint.Sizing is not null))
                await context.Output.WriteLineAsync($"{endpoint.Name}: {endpoint.Sizing}");
            return ExitCode.Done;
        }

        private static string[] Row(EndpointStatus endpoint) =>
            [
                endpoint.Name,
                endpoint.Type,
                JsonNamingPolicy.KebabCaseLower.ConvertName(endpoint.State.ToString()),
                $"{endpoint.Messages}",
                $"{endpoint.Failures}",
                $"{endpoint.InFlight}",
                endpoint.Pool is { } pool ? $"{pool.InUse}/{pool.Created}/{pool.Maximum}" : "-",
                endpoint.Reason ?? "",
            ];
    }
}
