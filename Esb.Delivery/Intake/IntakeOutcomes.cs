namespace Esb.Delivery.Intake;

/// <summary>Outcomes of received messages; values of the attribute <c>esb.outcome</c>.</summary>
public static class IntakeOutcomes
{
    public const string Accepted = "accepted";
    public const string Replied = "replied";
    public const string Filtered = "filtered";
    public const string Relayed = "relayed";
    public const string Duplicate = "duplicate";
    public const string Refused = "refused";
    public const string Failed = "failed";
    public const string Aborted = "aborted";

    public static bool IsFailure(string outcome) => outcome is Refused or Failed or Aborted;
}
