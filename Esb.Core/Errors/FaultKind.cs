namespace Esb.Core.Errors;

/// <summary>Whose fault a failure is. Each kind has one HTTP status (see <see cref="Faults.StatusOf"/>).</summary>
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

    /// <summary>Something that is needed is away or overloaded: 503.</summary>
    Unavailable,

    /// <summary>An answer took too long: 504.</summary>
    Timeout,

    /// <summary>The outside answered wrongly or hung up: 502.</summary>
    Outside,
}

/// <summary>What callers are told about faults.</summary>
public static class Faults
{
    /// <summary>The HTTP status of a kind of fault (RFC 9110, section 15).</summary>
    public static int StatusOf(FaultKind kind) => kind switch
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
