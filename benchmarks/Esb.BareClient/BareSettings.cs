using System.Globalization;

namespace Esb.BareClient;

/// <summary>What the environment says: <c>ESB_RABBITMQ</c>, <c>ESB_POSTGRES</c> as of the host, the rest below.</summary>
internal sealed record BareSettings(string RabbitMq, string Postgres, string Url, int Connections, ushort Concurrency, int AckGroup)
{
    public static BareSettings Read() =>
        new(
            Required("ESB_RABBITMQ"),
            Required("ESB_POSTGRES"),
            Environment.GetEnvironmentVariable("BARE_URL") ?? "http://127.0.0.1:9070",
            Number("BARE_CONNECTIONS", 8),
            (ushort)Number("BARE_CONCURRENCY", 32),
            Number("BARE_ACKS", 1)
        );

    /// <summary>Deliveries on their way: twice what is worked on at once, as the host has it.</summary>
    public ushort Prefetch => (ushort)Math.Max(32, 2 * Concurrency);

    private static string Required(string name) =>
        Environment.GetEnvironmentVariable(name) ?? throw new InvalidOperationException($"{name} is not set");

    private static int Number(string name, int otherwise) =>
        int.TryParse(Environment.GetEnvironmentVariable(name), CultureInfo.InvariantCulture, out var number) ? number : otherwise;
}
