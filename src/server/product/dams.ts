export interface Dam {
  id: string;
  name: string;
  text: string;
  example: string;
}

export const DAMS: Dam[] = [
  {
    id: 'gravity',
    name: 'Gravity dam',
    text: 'Holds the water back by its weight alone, and stands firm when a neighbouring block moves.',
    example: 'Grande Dixence in Switzerland',
  },
  {
    id: 'arch',
    name: 'Arch dam',
    text: 'Curves against the water and leads its force into the rock on both sides.',
    example: 'Hoover Dam in the United States, which is partly a gravity dam',
  },
  {
    id: 'buttress',
    name: 'Buttress dam',
    text: 'A thin wall that leans on a row of supports, and saves most of the concrete.',
    example: 'Itaipu in Brazil and Paraguay, in its main part',
  },
  {
    id: 'embankment',
    name: 'Embankment dam',
    text: 'A hill of earth and rock with a tight core. It must never be overtopped: hence its spillway.',
    example: 'Oroville Dam in the United States',
  },
];
