namespace Esb.Host.Commands;

/// <summary>How the program ends; scripts rely on the numbers.</summary>
internal static class ExitCode
{
    public const int Done = 0;

    /// <summary>What no other code says, such as a host that failed at a request.</summary>
    public const int Failed = 1;

    public const int Usage = 2;
    public const int Configuration = 3;
    public const int NotAuthorized = 4;
    public const int Unreachable = 5;

    /// <summary>What is recorded was changed.</summary>
    public const int VerificationFailed = 6;

    /// <summary>Stopped with work under way.</summary>
    public const int Abandoned = 7;
}
