namespace Esb.IntegrationTests.Faults.Load;

/// <summary>What a caller knows of an answer.</summary>
internal enum CallResult
{
    /// <summary>Success, with what was sent, whole.</summary>
    Right,

    /// <summary>An answer that nobody may give: success with something else, a status that says nothing of an outage, or none in
    /// time.</summary>
    Wrong,

    /// <summary>502, 503 or 504 with a code.</summary>
    Refused,

    /// <summary>The connection ended before the answer did, or was not taken.</summary>
    Broken,
}
