using OpenTelemetry.Exporter;

namespace Esb.Host.Telemetry;

/// <summary>A collector and its OTLP protocol, gRPC or HTTP (https://opentelemetry.io/docs/specs/otlp/, version 1.10).</summary>
internal sealed record OtlpTarget(Uri Base, OtlpExportProtocol Protocol)
{
    private const int HttpPort = 4318;

    public static OtlpTarget? Parse(string url)
    {
        if (!Uri.TryCreate(url, UriKind.Absolute, out var uri) || uri.Scheme is not ("http" or "https") || uri.UserInfo.Length > 0)
            return null;
        var isHttp = uri.Port == HttpPort || uri.AbsolutePath.StartsWith("/v1", StringComparison.Ordinal);
        return new OtlpTarget(new Uri(uri, "/"), isHttp ? OtlpExportProtocol.HttpProtobuf : OtlpExportProtocol.Grpc);
    }

    /// <summary>The address for a signal, <c>traces</c> or <c>metrics</c>: over gRPC the method names the signal, over HTTP the path
    /// does.</summary>
    public void Configure(OtlpExporterOptions options, string signal)
    {
        options.Protocol = Protocol;
        options.Endpoint = Protocol == OtlpExportProtocol.Grpc ? Base : new Uri(Base, $"v1/{signal}");
    }
}
