namespace Esb.IntegrationTests.Faults;

/// <summary>The headers that carry what sender and sinks know a message by.</summary>
internal static class FaultHeaders
{
    public const string Id = "x-fault-id";
    public const string Key = "x-fault-key";

    /// <summary>Set by the revision of the configuration that takes a message in, where a test tells these apart.</summary>
    public const string Mark = "x-round";
}
