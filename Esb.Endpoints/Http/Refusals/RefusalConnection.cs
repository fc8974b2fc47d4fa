using System.IO.Pipelines;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;

namespace Esb.Endpoints.Http.Refusals;

/// <summary>Inserts a <see cref="RefusalWriter"/> into each connection. For HTTP/1.1 only: later versions frame their answers.</summary>
internal static class RefusalConnection
{
    public static void UseRefusalBodies(this IConnectionBuilder connections) =>
        connections.Use(next =>
            async connection =>
            {
                if (connection.Features.Get<ITlsApplicationProtocolFeature>()?.ApplicationProtocol.Span.SequenceEqual("h2"u8) == true)
                {
                    await next(connection);
                    return;
                }

                var transport = connection.Transport;
                var output = new RefusalWriter(transport.Output);
                connection.Features.Set(output);
                connection.Transport = new Pipes(transport.Input, output);
                try
                {
                    await next(connection);
                }
                finally
                {
                    connection.Transport = transport;
                }
            }
        );

    private sealed record Pipes(PipeReader Input, PipeWriter Output) : IDuplexPipe;
}
