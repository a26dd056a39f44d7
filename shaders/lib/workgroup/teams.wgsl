// How many teams of TEAM invocations share a workgroup.
const TEAMS: u32 = WORKGROUP / TEAM;
