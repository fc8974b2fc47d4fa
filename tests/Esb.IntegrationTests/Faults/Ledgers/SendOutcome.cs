namespace Esb.IntegrationTests.Faults.Ledgers;

/// <summary>What a sender knows about one message after it tried to send it.</summary>
internal enum SendOutcome
{
    /// <summary>No answer, or one that says that nobody can tell: it may arrive or not.</summary>
    Unknown,

    /// <summary>The bus said "accepted": from then on it is the bus that must not lose it.</summary>
    Confirmed,

    /// <summary>The bus said no, or was not there: it must not arrive.</summary>
    Refused,
}
