namespace Esb.Host.Commands;

/// <summary>The exit codes of the program; scripts rely on the numbers.</summary>
internal static class ExitCode
{
    public const int Done = 0;

    /// <summary>Any other failure, such as an error of a host.</summary>
    public const int Failed = 1;

    public const int Usage = 2;
    public const int Configuration = 3;
    public const int NotAuthorized = 4;
    public const int Unreachable = 5;

    /// <summary>Recorded data was altered.</summary>
    public const int VerificationFailed = 6;

    /// <summary>Stopped with messages in flight.</summary>
    public const int Abandoned = 7;

    /// <summary>Interrupted by Ctrl-C.</summary>
    public const int Interrupted = 130;
}
