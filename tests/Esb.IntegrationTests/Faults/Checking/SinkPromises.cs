namespace Esb.IntegrationTests.Faults.Checking;

/// <summary>What the configuration of an endpoint promises its outside, beside that nothing is lost.</summary>
[Flags]
internal enum SinkPromises
{
    /// <summary>At least once, in any order.</summary>
    None = 0,

    /// <summary>The messages of a key arrive in the order in which they were confirmed.</summary>
    Ordered = 1,

    /// <summary>Each message has its effect once.</summary>
    Once = 2,

    /// <summary>Every copy that was suppressed is flagged in the audit, and nothing else is.</summary>
    Flagged = 4,
}
