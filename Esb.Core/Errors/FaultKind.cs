namespace Esb.Core.Errors;

/// <summary>Kinds of faults. Each has one HTTP status (see <see cref="Faults.StatusOf"/>).</summary>
public enum FaultKind
{
    /// <summary>The bus or its configuration failed: 500.</summary>
    Internal,

    /// <summary>The message cannot be read: 400.</summary>
    Malformed,

    /// <summary>The message can be read, but breaks a rule: 422.</summary>
    Invalid,

    /// <summary>The message is larger than allowed: 413.</summary>
    TooLarge,

    /// <summary>A required resource is unavailable or overloaded: 503.</summary>
    Unavailable,

    /// <summary>An answer took too long: 504.</summary>
    Timeout,

    /// <summary>The external system answered incorrectly or disconnected: 502.</summary>
    Outside,
}

/// <summary>Responses to callers about faults.</summary>
public static class Faults
{
    /// <summary>The HTTP status for a kind of fault (RFC 9110, section 15).</summary>
    public static int StatusOf(FaultKind kind) =>
        kind switch
        {
            FaultKind.Malformed => 400,
            FaultKind.Invalid => 422,
            FaultKind.TooLarge => 413,
            FaultKind.Unavailable => 503,
            FaultKind.Timeout => 504,
            FaultKind.Outside => 502,
            _ => 500,
        };
}
